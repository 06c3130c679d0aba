/** A piece of a text, or a hidden value with the key of JSON before it; `''` without one. */
export type RedactedPart = string | { readonly key: string };

/** What the redactor writes in place of a secret. */
export const REDACTED = '[redacted]';
/** A string of JSON, whole, so that nothing in it is read twice; or a hidden value. */
const tokens = /"(?:[^"\\\n]|\\.)*"?|\[redacted\]/g;

/** Splits a text at its hidden values, and leaves out the quotes around them, in time linear in its length. */
export function redactedParts(text: string): readonly RedactedPart[] {
  const parts: RedactedPart[] = [];
  let end = 0;
  const hide = (from: number, to: number, key: string): void => {
    if (from > end) parts.push(text.slice(end, from));
    parts.push({ key });
    end = to;
  };
  let before = { key: '', end: 0 };
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const behind = index + token.length;
    if (token === `"${REDACTED}"`) {
      const isKeyed = /^\s*:\s*$/.test(text.slice(before.end, index));
      hide(index, behind, isKeyed ? before.key : '');
    } else
      for (let at = token.indexOf(REDACTED); at !== -1; at = token.indexOf(REDACTED, at + 1))
        hide(index + at, index + at + REDACTED.length, '');
    before = { key: token.startsWith('"') ? token.slice(1, -1) : '', end: behind };
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}
