import { isRecord, parseJson, sameJson, type JsonObject, type JsonValue } from '../json.ts';
import { visibleJson, visibleLines } from '../visible-text.ts';
import { valueText } from './format.ts';

/** Whether a text cannot be mistaken for a number, a boolean or null: it needs no quotes. */
export const isPlainText = (value: JsonValue): value is string =>
  typeof value === 'string' && value !== '' && value.trim() === value && !parseJson(value).ok;

export const jsonText = (value: JsonValue): string =>
  typeof value === 'string' ? JSON.stringify(value) : valueText(value);

/** Whether it needs the full width. */
export const isLong = (value: JsonValue): boolean =>
  typeof value === 'string'
    ? value.length > 120 || value.includes('\n')
    : value !== null && typeof value === 'object';

export type FieldKind = 'text' | 'long' | 'number' | 'boolean' | 'json';

/** One argument in a form. */
export interface ArgField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly before: JsonValue;
}

export const fieldsOf = (args: JsonObject): readonly ArgField[] =>
  Object.entries(args).map(([name, before]) => ({ name, kind: kindOf(before), before }));

function kindOf(value: JsonValue): FieldKind {
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return 'number';
  // a field cannot show invisible characters; JSON escapes them
  if (typeof value !== 'string' || visibleLines(value) !== value) return 'json';
  return value.length > 60 || value.includes('\n') ? 'long' : 'text';
}

export const fieldText = ({ kind, before }: ArgField): string =>
  typeof before === 'string' && kind !== 'json'
    ? before
    : visibleJson(JSON.stringify(before, null, kind === 'json' ? 2 : 0));

/** The parsed value, or the expected type and why the text is not valid. */
export type FieldValue<T = JsonValue> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly expected: 'number' | 'json' | 'object'; readonly error: string };

/** Parses the text as the type of the original argument. */
export function readField({ kind }: ArgField, text: string): FieldValue {
  if (kind === 'text' || kind === 'long') return { ok: true, value: text };
  if (kind === 'boolean') return { ok: true, value: text === 'true' };
  if (kind === 'json') return readJson(text);
  const value = Number(text);
  return text.trim() !== '' && Number.isFinite(value)
    ? { ok: true, value }
    : { ok: false, expected: 'number', error: '' };
}

/** Parses all arguments as one JSON object. */
export function readArgs(text: string): FieldValue<JsonObject> {
  const read = readJson(text);
  if (!read.ok) return read;
  return isRecord(read.value)
    ? { ok: true, value: read.value }
    : { ok: false, expected: 'object', error: '' };
}

function readJson(text: string): FieldValue {
  const parsed = parseJson(text);
  return parsed.ok ? parsed : { ok: false, expected: 'json', error: parsed.error };
}

/** One changed argument; undefined if it did not exist. */
export interface ArgumentChange {
  readonly name: string;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

export function changesOf(before: JsonObject, after: JsonObject): readonly ArgumentChange[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const valueIn = (args: JsonObject, name: string): JsonValue | undefined =>
    Object.hasOwn(args, name) ? args[name] : undefined;
  return Array.from(names, (name) => ({
    name,
    before: valueIn(before, name),
    after: valueIn(after, name),
  })).filter((change) => !sameJson(change.before, change.after));
}
