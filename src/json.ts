export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };

/** A value as far as its text has arrived: lists may be shorter, properties may be missing. */
export type DeepPartial<T> = T extends readonly (infer E)[]
  ? readonly DeepPartial<E>[]
  : T extends (...args: never) => unknown
    ? T
    : T extends object
      ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
      : T;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export type Parsed =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: string };

export function parseJson(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { ok: false, error: withoutSource(error instanceof Error ? error.message : '') };
  }
}

/** Engines quote the text that they could not read, and there may be secrets in it. */
const withoutSource = (message: string): string =>
  message.replace(/,? *(?:\.\.\.)?".*$/s, '') || 'it is not JSON';

/** The own value of a key: a key that comes from outside must not find what every object inherits. */
export const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** Levels of nesting that JSON from outside may have: more than fair data needs, and far from what the stack takes. */
export const MOST_LEVELS = 64;

/** What stands in the place of levels below {@link MOST_LEVELS}. */
const CUT = `[cut: nested deeper than ${MOST_LEVELS} levels]`;

/**
 * Whether JSON has at most {@link MOST_LEVELS} levels. On the way it loses keys named `__proto__`, which would become
 * the prototype of whatever they are assigned to. For values that no other code holds.
 */
export function isHarmless(value: unknown, levels: number = MOST_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isHarmless(item, levels - 1));
  if (Object.hasOwn(value, '__proto__')) delete (value as Record<string, unknown>)['__proto__'];
  for (const key in value)
    if (!isHarmless((value as Record<string, unknown>)[key], levels - 1)) return false;
  return true;
}

/** A copy with at most so many levels. */
function withLevels(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { toJSON } = value as { toJSON?: unknown };
  if (levels === 0) return CUT;
  if (typeof toJSON === 'function') return withLevels(toJSON.call(value), levels);
  if (Array.isArray(value)) return value.map((item) => withLevels(item, levels - 1));
  const entries = Object.entries(value).filter(([key]) => key !== '__proto__');
  return Object.fromEntries(entries.map(([key, inner]) => [key, withLevels(inner, levels - 1)]));
}

/** As `JSON.stringify`; what is nested deeper than the stack takes is cut, and stays deeper than {@link MOST_LEVELS}. */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify(withLevels(value, MOST_LEVELS + 1));
  }
}

/** What JSON keeps of a value, detached from the original; throws where JSON cannot hold it (cycles, bigint). */
export function jsonCopy(value: unknown): { readonly value: JsonValue; readonly isCut: boolean } {
  if (value === null || typeof value === 'string' || typeof value === 'boolean')
    return { value, isCut: false };
  if (typeof value === 'number')
    return { value: Number.isFinite(value) ? value : null, isCut: false };
  const text = jsonText(value);
  const copy = text === undefined ? null : (JSON.parse(text) as JsonValue);
  if (isHarmless(copy)) return { value: copy, isCut: false };
  return { value: withLevels(copy, MOST_LEVELS) as JsonValue, isCut: true }; // JSON with fewer levels
}

/** The same, where it does not matter whether something was cut. */
export const toJsonValue = (value: unknown): JsonValue => jsonCopy(value).value;

/** JSON with sorted keys: two values with the same text are the same value. */
export function canonicalJson(value: unknown): string {
  try {
    return JSON.stringify(value, sorted);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify(withLevels(value, MOST_LEVELS), sorted);
  }
}

const sorted = (_key: string, inner: unknown): unknown =>
  isRecord(inner)
    ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : inner;

/** Equal as JSON; the order of keys does not matter. No deeper than the shallower of the two is looked at. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameJson(item, b[i]));
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}

/** The body of a fenced code block that is the whole text, else the text itself, trimmed. */
export function withoutFence(text: string): string {
  const trimmed = text.trim();
  const start = /^```[\w-]*/.exec(trimmed)?.[0].length ?? 0;
  const end = trimmed.length - 3;
  return start > 0 && start <= end && trimmed.endsWith('```')
    ? trimmed.slice(start, end).trim()
    : trimmed;
}

/** `\n` is over with its second letter, `\u00e9` with its sixth. */
const isEscapeOver = (char: string, length: number): boolean =>
  length === 1 ? char !== 'u' : length === 5;

/**
 * What can be read of a JSON text that broke off: open strings, lists and objects are closed and a dangling
 * key or comma is dropped. `undefined` when not even that gives a value.
 */
export function parsePartialJson(text: string): JsonValue | undefined {
  const body = withoutFence(text).replace(/^```[\w-]*\s*/, '');
  const whole = parseJson(body);
  if (whole.ok) return whole.value;
  const { open, tail, string } = withEndings(body);
  const beforeString = (cut: string): string | null =>
    cut.trimEnd().length === string.end ? open.slice(0, string.start) : null;
  const beforeKey = beforeString(chopped(open, ':'));
  const beforeWord = withoutWord(open);
  const beforePair = beforeWord?.trimEnd().endsWith(':')
    ? beforeString(chopped(beforeWord, ':'))
    : null;
  for (const cut of [open, beforeKey, beforePair ?? beforeWord]) {
    const closed = cut === null ? null : parseJson(chopped(cut, ',') + tail);
    if (closed?.ok) return closed.value;
  }
  return undefined;
}

interface Endings {
  /** The text with its last string closed. */
  readonly open: string;
  /** What closes the lists and objects that are open. */
  readonly tail: string;
  /** Where the last string stands; its end is 0 where there is none. */
  readonly string: { readonly start: number; readonly end: number };
}

function withEndings(body: string): Endings {
  const closers: string[] = [];
  let start = 0;
  let end = 0;
  let inString = false;
  /** Letters of the escape that is open, the backslash included; 0 outside of one. */
  let escape = 0;
  for (let i = 0; i < body.length; i++) {
    const char = body.charAt(i);
    if (inString) {
      if (escape > 0) escape = isEscapeOver(char, escape) ? 0 : escape + 1;
      else if (char === '\\') escape = 1;
      else if (char === '"') {
        inString = false;
        end = i + 1;
      }
    } else if (char === '"') {
      inString = true;
      start = i;
    } else if (char === '{') closers.push('}');
    else if (char === '[') closers.push(']');
    else if (char === '}' || char === ']') closers.pop();
  }
  const open = inString ? `${body.slice(0, body.length - escape)}"` : body;
  const string = { start, end: inString ? open.length : end };
  return { open, tail: closers.toReversed().join(''), string };
}

/** The text without blanks at its end, and without that mark there. */
function chopped(text: string, mark: ',' | ':'): string {
  const trimmed = text.trimEnd();
  return trimmed.endsWith(mark) ? trimmed.slice(0, -1) : trimmed;
}

/** The text without the number or word that it ends with; null if it ends with none. */
function withoutWord(text: string): string | null {
  let end = text.length;
  while (/[\w.+-]/.test(text.charAt(end - 1))) end -= 1;
  return end === text.length ? null : text.slice(0, end);
}

const utf8 = new TextEncoder();

/** How many bytes a text has in UTF-8. */
export const utf8Bytes = (text: string): number => utf8.encode(text).length;
