import type { ErrorRecord } from '../errors/error-record.ts';
import { safeEnd } from '../errors/excerpt.ts';
import { jsonCopy, type JsonValue } from '../json.ts';
import type { ContentPart } from '../messages/content-part.ts';
import type { PartFacts } from '../messages/part-facts.ts';

export type ToolResultKind = 'ok' | 'error' | 'denied' | 'aborted' | 'blocked' | 'timeout';

/** How an approver answered a call. */
export interface ApprovalRecord {
  readonly decision: 'approved' | 'edited' | 'denied';
  /** The approver; null if not given. */
  readonly by: string | null;
  readonly at: string;
  /** Time of the remembered approval that approved the call; absent if a person answered this call. */
  readonly rememberedAt?: string;
  /** Set if the approver asked to remember the answer, and the session remembered the most that it may. */
  readonly notRemembered?: true;
  /** Hash of the answered arguments; after an edit, of the edited ones. */
  readonly argsHash: string;
}

/** Result of one call; `value` is what the model gets, with a note in place of each image and file. */
export interface ToolResult {
  readonly callId: string;
  readonly kind: ToolResultKind;
  readonly value: JsonValue;
  /** The images and files of the result, without their bytes, which are in the tool message. */
  readonly files?: readonly PartFacts[];
  /** The parts, until the step ends: then the tool message has them. */
  readonly content?: readonly ContentPart[];
  readonly error?: ErrorRecord;
  /** Answer to a call that needed approval. */
  readonly approval?: ApprovalRecord;
  readonly durationMs: number;
}

/** Removes the parts of a result, once its message has them: they are stored once. */
export function withoutParts(result: ToolResult): ToolResult {
  const { content: _, ...rest } = result;
  return rest;
}

/** Returns the text of a result for a tool message. */
export const resultText = (value: JsonValue): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Converts a returned value for the state: JSON, truncated with a note if it is too long or nested too deep. */
export function recordedValue(
  returned: unknown,
  maxChars: number,
): { readonly value: JsonValue; readonly cut: boolean } {
  const { value, isTruncated: cut } = jsonCopy(returned);
  if (typeof value !== 'string' && typeof value !== 'object') return { value, cut };
  const text = resultText(value);
  if (text.length <= maxChars) return { value, cut };
  const kept = text.slice(0, safeEnd(text, maxChars));
  return { value: `${kept}… [cut: ${kept.length} of ${text.length} characters shown]`, cut: true };
}
