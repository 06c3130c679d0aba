import { MAX_KEY, plainKey } from './secret-keys.ts';
import type { Reading } from './reading.ts';

/** The name of a secret before its value. */
export interface SecretKey {
  readonly name: string;
  readonly kind: 'password' | 'secret';
  /** The quote at its end with the backslashes before it; '' for none. */
  readonly quote: string;
  /** Its start, including the quote. */
  readonly start: number;
  /** Whether it is secret only in the query of a URL: elsewhere it is an ordinary word. */
  readonly isQueryOnly: boolean;
}

const queryKeys = /^(?:key|sig|signature|xamzsignature|xgoogsignature)$/;
const quotes = '"\'`';

/** Returns the name that ends at `at`, ignoring blanks, if it is one of a secret. */
export function keyBefore(reading: Reading, at: number): SecretKey | null {
  const { text, floor } = reading;
  let end = at;
  // `:=` and `?=`
  if (text[end - 1] === ':' || text[end - 1] === '?') end -= 1;
  while (end > floor && at - end < 8 && ' \t*'.includes(text.charAt(end - 1))) end -= 1;
  // `env["KEY"] =`
  if (text[end - 1] === ']' && quotes.includes(text.charAt(end - 2))) end -= 1;
  if (end <= floor) return null;
  return quotes.includes(text.charAt(end - 1)) ? quotedKey(reading, end) : bareKey(reading, end);
}

function bareKey({ text, floor, kindOf }: Reading, end: number): SecretKey | null {
  let start = end;
  while (start > floor && isNameChar(text.charCodeAt(start - 1))) {
    start -= 1;
    if (end - start > MAX_KEY) return null;
  }
  // a line break that is written as ` `
  if (text[start - 1] === '\\' && 'nrt'.includes(text.charAt(start))) start += 1;
  while (start < end && '-.'.includes(text.charAt(start))) start += 1;
  if (start === end) return null;
  const name = text.slice(start, end);
  const kind = kindOf(name);
  if (kind !== null) return { name, kind, quote: '', start, isQueryOnly: false };
  if ('?&'.includes(text.charAt(start - 1)) && start > floor && queryKeys.test(plainKey(name)))
    return { name, kind: 'secret', quote: '', start, isQueryOnly: true };
  return text[start - 1] === ' ' ? twoWordKey(text, floor, start, name, kindOf) : null;
}

/** Reads `API key: …`. */
function twoWordKey(
  text: string,
  floor: number,
  second: number,
  word: string,
  kindOf: Reading['kindOf'],
): SecretKey | null {
  if (!/^(?:key|token|string|code|phrase|word)s?$/i.test(word)) return null;
  let start = second - 1;
  while (start > floor && second - start < 24 && /[A-Za-z]/.test(text.charAt(start - 1)))
    start -= 1;
  const name = text.slice(start, second) + word;
  const kind = kindOf(name);
  return kind === null ? null : { name, kind, quote: '', start, isQueryOnly: false };
}

function quotedKey({ text, floor, kindOf }: Reading, end: number): SecretKey | null {
  const quote = text.charCodeAt(end - 1);
  let inner = end - 1;
  while (inner > floor && end - inner < 32 && text.charCodeAt(inner - 1) === BACKSLASH) inner -= 1;
  const farthest = Math.max(floor, inner - 2 * MAX_KEY);
  let open = inner - 1;
  let hasEscapes = false;
  for (; open >= farthest; open--) {
    const code = text.charCodeAt(open);
    if (code === quote) break;
    hasEscapes ||= code === BACKSLASH;
  }
  if (open < farthest || open === inner - 1) return null;
  const written = text.slice(open + 1, inner);
  const name = hasEscapes ? unescaped(written) : written;
  const escapes = end - 1 - inner;
  const start = open - escapes;
  const kind = name === 'value' ? labelKind(text, floor, start, kindOf) : kindOf(name);
  if (kind === null) return null;
  return { name, kind, quote: text.slice(inner, end), start, isQueryOnly: false };
}

const label =
  /^(?:name|key)\\{0,31}["'`]?\s{0,8}:\s{0,8}\\{0,31}["'`]([^"'`\\]{1,64})\\{0,31}["'`]\s{0,8},\s{0,64}$/;

/** Reads `"name": "Cookie", "value": …`, as in lists of headers and variables. */
function labelKind(
  text: string,
  floor: number,
  end: number,
  kindOf: Reading['kindOf'],
): SecretKey['kind'] | null {
  const before = text.slice(Math.max(floor, end - 128), end);
  const at = Math.max(before.lastIndexOf('name'), before.lastIndexOf('key'));
  const [, name] = label.exec(before.slice(Math.max(0, at))) ?? [];
  return name === undefined ? null : kindOf(name);
}

const BACKSLASH = 92;

/** Replaces escapes such as `\u0070` by their letters, at any depth of escaping. */
const unescaped = (name: string): string =>
  name.replace(/\\+u([\da-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );

const isNameChar = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  (code >= 48 && code <= 57) ||
  code === 95 ||
  code === 45 ||
  code === 46;
