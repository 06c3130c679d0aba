import { isRecord, type JsonObject, type JsonValue } from '../../json.ts';
import type { CacheTtl } from '../../messages/cache-mark.ts';
import type { MarkWire, PromptCache } from './cache-marks.ts';

/** Returns where a server with Chat Completions accepts marks; null if it gets none. OpenAI caches without marks. */
export function chatMarkWire(server: string, model: string, mode: PromptCache): MarkWire | null {
  if (new URL(server).hostname === 'openrouter.ai')
    return {
      isAuto: mode === 'on' || (mode === 'auto' && model.startsWith('anthropic/')),
      onTools: true,
      onResults: true,
    };
  // proxies put the mark of a result where Anthropic rejects it
  return mode === 'on' ? { isAuto: true, onTools: false, onResults: false } : null;
}

/** Returns the field of a mark. */
export const markField = (ttl: CacheTtl | undefined): { readonly cache_control?: JsonObject } =>
  ttl === undefined ? {} : { cache_control: { type: 'ephemeral', ...(ttl === '1h' && { ttl }) } };

/**
 * Marks the last text of a message. Where marks move, texts leave as parts also without one, so that the prefix stays the
 * same.
 */
export function withMark(
  message: JsonObject,
  ttl: CacheTtl | undefined,
  isMoving: boolean,
): JsonObject {
  const { role, content } = message;
  if (typeof content === 'string') {
    const isInput = role !== 'assistant' && content.trim() !== '';
    if (ttl === undefined && !(isMoving && isInput)) return message;
    return { ...message, content: [{ type: 'text', text: content, ...markField(ttl) }] };
  }
  if (ttl === undefined || !Array.isArray(content)) return message;
  const parts: readonly JsonValue[] = content;
  const last = parts.findLastIndex((part) => isRecord(part) && part['type'] === 'text');
  return {
    ...message,
    content: parts.map((part, i) =>
      i === last ? { ...(part as JsonObject), ...markField(ttl) } : part,
    ),
  };
}
