import type { JsonObject } from './json.ts';

/** Characters of reasoning in events, envelopes and views; the message itself keeps all of it. */
const MOST_REASONING = 32_768;

/** The beginning of a long text, with an ellipsis; never ends inside a character of two code units. */
export function truncatedReasoning(text: string): string {
  if (text.length <= MOST_REASONING) return text;
  const end = MOST_REASONING - 1;
  const code = text.charCodeAt(end - 1);
  return `${text.slice(0, code >= 0xd800 && code <= 0xdbff ? end - 1 : end)}…`;
}

/** The reasoning of a stored answer as views show it; null where it has none. */
export function reasoningOf({ metadata }: { readonly metadata: JsonObject }): string | null {
  const { reasoning } = metadata;
  return typeof reasoning === 'string' && reasoning !== '' ? truncatedReasoning(reasoning) : null;
}
