import type { JsonObject } from './json.ts';

/** Maximum characters of reasoning in events, envelopes and views; the message itself keeps all of it. */
const MOST_REASONING = 32_768;

/** Truncates a long text with an ellipsis, without splitting a surrogate pair. */
export function truncatedReasoning(text: string): string {
  if (text.length <= MOST_REASONING) return text;
  const end = MOST_REASONING - 1;
  const code = text.charCodeAt(end - 1);
  return `${text.slice(0, code >= 0xd800 && code <= 0xdbff ? end - 1 : end)}…`;
}

/** Returns the reasoning of a stored answer for views; null if it has none. */
export function reasoningOf({ metadata }: { readonly metadata: JsonObject }): string | null {
  const { reasoning } = metadata;
  return typeof reasoning === 'string' && reasoning !== '' ? truncatedReasoning(reasoning) : null;
}
