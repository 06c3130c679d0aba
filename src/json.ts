export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };

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

/** What JSON keeps of a value, detached from the original; throws where JSON cannot hold it (cycles, bigint). */
export function toJsonValue(value: unknown): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  const text = JSON.stringify(value);
  return text === undefined ? null : (JSON.parse(text) as JsonValue);
}

/** JSON with sorted keys: two values with the same text are the same value. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isRecord(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

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
  const fenced = /^```[\w-]*\r?\n?([\s\S]*?)\r?\n?```$/.exec(trimmed);
  return (fenced?.[1] ?? trimmed).trim();
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
