import type { InferenceResponse } from '../inference/inference-driver.ts';
import { isPlainJson, isRecord, toJsonValue, type JsonObject } from '../json.ts';

/**
 * Returns the metadata of an answer as its message stores it: plain JSON within bounds, and the reasoning. A server may
 * send state that no state could be stored with; a driver may return what is no JSON.
 */
export function answerMetadata({
  metadata,
  reasoning,
}: Pick<Partial<InferenceResponse>, 'metadata' | 'reasoning'>): JsonObject {
  const kept = metadata === undefined ? none : isPlainJson(metadata) ? metadata : copied(metadata);
  return typeof reasoning === 'string' && reasoning !== '' ? { ...kept, reasoning } : kept;
}

const none: JsonObject = Object.freeze({});

function copied(metadata: JsonObject): JsonObject {
  try {
    const copy = toJsonValue(metadata);
    return isRecord(copy) ? copy : none;
  } catch {
    return none; // cycles and the like, which JSON cannot represent
  }
}
