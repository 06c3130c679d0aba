import { isRecord, parseJson } from '../json.ts';
import { REDACTED } from './reading.ts';
import { keyReader, type KeyKind } from './secret-keys.ts';
import { hasTrigger, SecretScanner, type TextStream } from './secret-scanner.ts';
import { matchesBlanks, WordStream } from './word-stream.ts';

export { REDACTED } from './reading.ts';
export type { TextStream } from './secret-scanner.ts';

/** Hides secrets in anything that leaves the run: events, logs, errors, UI reads. Never changes its input. */
export interface Redactor {
  text(text: string): string;
  value<T>(value: T): T;
  isSecretKey(key: string): boolean;
  /** Redacts text that arrives in chunks, like `text`. Without it, streamed text is held back word by word. */
  stream?(): TextStream;
  /** Whether a value is hidden because of its key. Without it, texts, lists and objects under a secret key are. */
  hidesUnder?(key: string, value: unknown): boolean;
}

/** Maximum depth: deeper than real data, and far below the limit of the stack. */
const MAX_DEPTH = 200;

interface KnownKey {
  /** The redacted key. */
  readonly name: string;
  readonly kind: KeyKind;
}

/** Creates a redactor with the built-in keys and patterns plus these; patterns are global. */
export function makeRedactor(
  moreKeys: readonly string[] = [],
  patterns: readonly RegExp[] = [],
): Redactor {
  const kindOf = keyReader(moreKeys);

  const text = (input: string): string => {
    const json = /^\s*[[{]/.test(input) ? jsonText(input) : input;
    if (!hasTrigger(json)) return withoutPatterns(json);
    const scanner = new SecretScanner(kindOf);
    return withoutPatterns(scanner.push(json) + scanner.end());
  };

  const withoutPatterns = (input: string): string =>
    patterns.reduce((output, pattern) => output.replace(pattern, REDACTED), input);

  const jsonText = (input: string): string => {
    const parsed = parseJson(input);
    // a value that is nested too deep is read as plain text
    if (!parsed.ok || isTooDeep(parsed.value)) return input;
    const redacted = walk(parsed.value);
    return redacted === parsed.value ? input : JSON.stringify(redacted);
  };

  // the same few keys repeat
  const known = new Map<string, KnownKey>();
  const keyOf = (key: string): KnownKey => {
    const found = known.get(key);
    if (found) return found;
    const made = { name: text(key), kind: kindOf(key) };
    if (known.size < 2_000 && key.length <= 64) known.set(key, made);
    return made;
  };

  const walk = (value: unknown, depth: number = 0): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MAX_DEPTH) return REDACTED;
    if (Array.isArray(value)) return mapped(value, (item) => walk(item, depth + 1));
    if (isRecord(value) && typeof value['toJSON'] === 'function')
      return walk((value as { toJSON(): unknown }).toJSON(), depth + 1);
    const entries = Object.entries(value);
    const named = entries.length <= 4 ? namedSecret(value, kindOf) : null;
    let changed = false;
    const next = entries.map(([key, inner]): [string, unknown] => {
      const { name, kind } = key === named ? secretValue : keyOf(key);
      const shown = isHidden(kind, inner) ? REDACTED : walk(inner, depth + 1);
      changed ||= shown !== inner || name !== key;
      return [name, shown];
    });
    return changed ? Object.fromEntries(next) : value;
  };

  return {
    text,
    value: <T>(value: T): T => walk(value) as T,
    isSecretKey: (key) => kindOf(key) !== null,
    hidesUnder: (key, value) => isHidden(kindOf(key), value),
    stream: () => {
      const scanner = new SecretScanner(kindOf);
      if (patterns.length === 0) return scanner;
      return piped(scanner, new WordStream(withoutPatterns, patterns.some(matchesBlanks) ? 8 : 1));
    },
  };
}

const secretValue: KnownKey = { name: 'value', kind: 'secret' };

/** Returns the key of `{ name: 'Cookie', value: … }`, as in lists of headers and variables. */
function namedSecret(record: object, kindOf: (key: string) => KeyKind): 'value' | null {
  const { name, key, value } = record as Record<string, unknown>;
  const label = name ?? key;
  return typeof label === 'string' && typeof value === 'string' && kindOf(label) !== null
    ? 'value'
    : null;
}

/** Combines two redactors: hides what either hides. */
export const bothRedactors = (a: Redactor, b: Redactor): Redactor =>
  a === b
    ? a
    : {
        text: (text) => b.text(a.text(text)),
        value: (value) => b.value(a.value(value)),
        isSecretKey: (key) => a.isSecretKey(key) || b.isSecretKey(key),
        hidesUnder: (key, value) => hidesUnder(a, key, value) || hidesUnder(b, key, value),
        stream: () => piped(streamOf(a), streamOf(b)),
      };

/** Returns the redactor's stream, or one that works for any redactor and holds back the last words. */
export const streamOf = (redactor: Redactor): TextStream =>
  redactor.stream?.() ?? new WordStream((text) => redactor.text(text), 4);

export const hidesUnder = (redactor: Redactor, key: string, value: unknown): boolean =>
  redactor.hidesUnder?.(key, value) ?? (redactor.isSecretKey(key) && isHidden('secret', value));

const piped = (first: TextStream, second: TextStream): TextStream => ({
  push: (piece) => second.push(first.push(piece)),
  end: () => second.push(first.end()) + second.end(),
});

/** Whether a value is nested too deep. Checked level by level, because recursion would overflow the stack. */
function isTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    );
  }
  return false;
}

/** Whether a value under a key of this kind is hidden. Numbers are counts, except in a password. */
const isHidden = (kind: KeyKind, value: unknown): boolean => {
  if (kind === null || value === null || value === '') return false;
  if (typeof value === 'number') return kind === 'password' && Math.abs(value) >= 1_000;
  return typeof value === 'string' || typeof value === 'object';
};

function mapped(list: readonly unknown[], fn: (item: unknown) => unknown): readonly unknown[] {
  const next = list.map((item) => fn(item));
  return next.some((item, i) => item !== list[i]) ? next : list;
}

export const defaultRedactor: Redactor = /* @__PURE__ */ makeRedactor();
