export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };

/** A value whose text is incomplete: lists may be shorter, properties may be missing. */
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

/** Removes the source text that engines quote in errors, because it may hold secrets. */
const withoutSource = (message: string): string =>
  message.replace(/,? *(?:\.\.\.)?".*$/s, '') || 'it is not JSON';

/** Returns the own value of a key, so that a foreign key does not match an inherited property. */
export const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** Maximum nesting of foreign JSON: more than ordinary data needs, and far below the limit of the stack. */
export const MOST_LEVELS = 64;

/** Replaces levels below {@link MOST_LEVELS}. */
const CUT = `[cut: nested deeper than ${MOST_LEVELS} levels]`;

/**
 * Whether JSON has at most {@link MOST_LEVELS} levels. Also deletes keys named `__proto__` in place, which would set a
 * prototype when they are assigned. Only for values that no other code holds.
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

/** Whether a value is JSON that {@link isHarmless} accepts as it is. Changes nothing, and never throws. */
export function isPlainJson(value: unknown, levels: number = MOST_LEVELS): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean';
  if (value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isPlainJson(item, levels - 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  if (Object.hasOwn(value, '__proto__')) return false;
  for (const key in value)
    if (!isPlainJson((value as Record<string, unknown>)[key], levels - 1)) return false;
  return true;
}

/** Copies a value with at most this many levels. */
function withLevels(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { toJSON } = value as { toJSON?: unknown };
  if (levels === 0) return CUT;
  if (typeof toJSON === 'function') return withLevels(toJSON.call(value), levels);
  if (Array.isArray(value)) return value.map((item) => withLevels(item, levels - 1));
  const entries = Object.entries(value).filter(([key]) => key !== '__proto__');
  return Object.fromEntries(entries.map(([key, inner]) => [key, withLevels(inner, levels - 1)]));
}

/** Like `JSON.stringify`, but truncates a value that overflows the stack; it still exceeds {@link MOST_LEVELS}. */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify(withLevels(value, MOST_LEVELS + 1));
  }
}

/** Copies a value through JSON; throws if JSON cannot represent it (cycles, bigint). */
export function jsonCopy(value: unknown): {
  readonly value: JsonValue;
  readonly isTruncated: boolean;
} {
  if (value === null || typeof value === 'string' || typeof value === 'boolean')
    return { value, isTruncated: false };
  if (typeof value === 'number')
    return { value: Number.isFinite(value) ? value : null, isTruncated: false };
  const text = jsonText(value);
  const copy = text === undefined ? null : (JSON.parse(text) as JsonValue);
  if (isHarmless(copy)) return { value: copy, isTruncated: false };
  return { value: withLevels(copy, MOST_LEVELS) as JsonValue, isTruncated: true }; // JSON with fewer levels
}

/** Copies a value through JSON, without reporting whether it was truncated. */
export const toJsonValue = (value: unknown): JsonValue => jsonCopy(value).value;

/** Writes JSON with sorted keys: equal values have equal texts. */
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

/** Whether two values are equal as JSON, in any order of keys. Reads no deeper than the shallower of the two. */
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

/** Returns the body of a code fence around the whole text, else the text; trimmed. */
export function withoutFence(text: string): string {
  const trimmed = text.trim();
  const start = /^```[\w-]*/.exec(trimmed)?.[0].length ?? 0;
  const end = trimmed.length - 3;
  return start > 0 && start <= end && trimmed.endsWith('```')
    ? trimmed.slice(start, end).trim()
    : trimmed;
}

/** Whether an escape is complete: `\n` with its second character, `\u00e9` with its sixth. */
const isEscapeOver = (char: string, length: number): boolean =>
  length === 1 ? char !== 'u' : length === 5;

/**
 * Parses an incomplete JSON text: closes open strings, lists and objects, and drops a dangling key or comma. Returns
 * `undefined` if that gives no value.
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
  /** Brackets that close the open lists and objects. */
  readonly tail: string;
  /** Position of the last string; its end is 0 if there is none. */
  readonly string: { readonly start: number; readonly end: number };
}

function withEndings(body: string): Endings {
  const closers: string[] = [];
  let start = 0;
  let end = 0;
  let inString = false;
  /** Characters of an open escape, with the backslash; 0 outside of one. */
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

/** Trims the end of a text, and removes the mark there. */
function chopped(text: string, mark: ',' | ':'): string {
  const trimmed = text.trimEnd();
  return trimmed.endsWith(mark) ? trimmed.slice(0, -1) : trimmed;
}

/** Removes the number or word at the end of a text; null if there is none. */
function withoutWord(text: string): string | null {
  let end = text.length;
  while (/[\w.+-]/.test(text.charAt(end - 1))) end -= 1;
  return end === text.length ? null : text.slice(0, end);
}

const utf8 = new TextEncoder();

/** Number of bytes of a text in UTF-8. */
export const utf8Bytes = (text: string): number => utf8.encode(text).length;
