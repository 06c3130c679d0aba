import { defaultRedactor } from './make-redactor.ts';

/** Characters that are read beyond the excerpt, so that a secret at its end is recognized. */
const MARGIN = 8_000;
/** Maximum characters of a split word that are left out. */
const MAX_WORD = 500;

/**
 * Returns at most `max` characters of an untrusted text for an error message. It hides secrets before it truncates,
 * and leaves out a word that the end would split, so that neither this redactor nor a later one misses half a secret.
 */
export function excerpt(text: string, max: number): string {
  const safe = defaultRedactor.text(text.slice(0, max + MARGIN));
  if (text.length <= max + MARGIN && safe.length <= max) return safe;
  return `${safe.slice(0, wordEnd(safe, max))}… (${text.length} characters)`;
}

/**
 * Returns an end of at most `max` characters for a text that is redacted later: it splits no surrogate pair and no word
 * of up to 500 characters, because half a secret is not recognized as one.
 */
export function safeEnd(text: string, max: number): number {
  if (text.length <= max) return text.length;
  const end = wordEnd(text, max);
  // the text is one word, or has a very long one
  if (end === 0 || isWord(text.charCodeAt(end - 1))) return endBefore(text, max);
  return end;
}

function endBefore(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}

/** Returns the start of the word that index `end` splits, or `end` between words. */
function wordEnd(text: string, end: number): number {
  let at = Math.min(end, text.length);
  const first = Math.max(0, at - MAX_WORD);
  while (at > first && isWord(text.charCodeAt(at)) && isWord(text.charCodeAt(at - 1))) at--;
  return at;
}

/** Letters, digits and the marks inside of tokens: `+ - . / = _ ~`; NaN is the end of the text. */
const isWord = (code: number): boolean =>
  Number.isNaN(code) || code > 127 || /[\w+\-./=~]/.test(String.fromCharCode(code));
