import { isRecord, parseJson, type JsonObject, type JsonValue } from '../../json.ts';
import { valueText } from '../../react/format.ts';
import { visibleJson, visibleLines, visibleName, visibleText } from '../../visible-text.ts';

/** "Delete lead_1874?", in parts: the value stands out. Made of the call's own words, and of nothing else. */
export interface Question {
  readonly ask: string;
  readonly what: string | null;
}

/** Names of arguments that say what a call is about, best first. */
const telling = ['id', 'name', 'title', 'email', 'domain', 'path', 'url', 'query', 'subject', 'to'];
const longest = 48;

export function questionOf(tool: string, args: unknown): Question {
  const words = wordsOf(tool);
  const [verb = 'Run', ...things] = words;
  const what = isRecord(args) ? subjectOf(args, things) : null;
  const start = `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`;
  // "lead_1874" says by itself that it is a lead
  const noun = things.at(-1)?.toLowerCase();
  const isSaid = what !== null && noun !== undefined && what.toLowerCase().startsWith(noun);
  return { ask: [start, ...(isSaid ? [] : things)].join(' '), what };
}

export const questionText = ({ ask, what }: Question): string =>
  what === null ? `${ask}?` : `${ask} ${what}?`;

/** `delete_lead`, `deleteLead` and `crm.delete-lead` as words. */
const wordsOf = (tool: string): readonly string[] =>
  (tool.split(/[./:]/).at(-1) ?? tool)
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .split(/[\s_-]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());

function subjectOf(
  args: Readonly<Record<string, unknown>>,
  things: readonly string[],
): string | null {
  const noun = things.join('_');
  const last = things.at(-1) ?? '';
  const names = [
    ...telling.slice(0, 1),
    `${noun}_id`,
    `${last}_id`,
    `${last}Id`,
    noun,
    last,
    ...telling,
  ];
  for (const name of names) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (typeof value === 'number') return String(value);
    if (typeof value === 'string' && value.trim() !== '' && value.length <= longest) return value;
  }
  return null;
}

/** Text that nobody takes for a number, for true or false, or for nothing: it needs no quotes. */
export const isPlainText = (value: JsonValue): value is string =>
  typeof value === 'string' && value !== '' && value.trim() === value && !parseJson(value).ok;

export const jsonText = (value: JsonValue): string =>
  typeof value === 'string' ? JSON.stringify(value) : valueText(value);

/** It wants the whole width. */
export const isLong = (value: JsonValue): boolean =>
  typeof value === 'string'
    ? value.length > 120 || value.includes('\n')
    : value !== null && typeof value === 'object';

export type FieldKind = 'text' | 'long' | 'number' | 'boolean' | 'json';

/** What one argument looks like in a form. */
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
  // a field cannot show what nobody sees: as JSON it stands there in escapes
  if (typeof value !== 'string' || visibleLines(value) !== value) return 'json';
  return value.length > 60 || value.includes('\n') ? 'long' : 'text';
}

export const fieldText = ({ kind, before }: ArgField): string =>
  typeof before === 'string' && kind !== 'json'
    ? before
    : visibleJson(JSON.stringify(before, null, kind === 'json' ? 2 : 0));

export type FieldValue =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly problem: string };

/** What was typed, as the type that it had. */
export function readField({ kind }: ArgField, text: string): FieldValue {
  if (kind === 'text' || kind === 'long') return { ok: true, value: text };
  if (kind === 'boolean') return { ok: true, value: text === 'true' };
  if (kind === 'number') {
    const value = Number(text);
    return text.trim() !== '' && Number.isFinite(value)
      ? { ok: true, value }
      : { ok: false, problem: 'This is not a number.' };
  }
  try {
    return { ok: true, value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { ok: false, problem: `This is not JSON: ${(error as Error).message}` };
  }
}

export interface Change {
  readonly name: string;
  readonly before: JsonValue;
  readonly after: JsonValue;
}

/** "1 change: notify_owner true → false." */
export function changesText(changes: readonly Change[]): string {
  const [only] = changes;
  if (!only) return 'No changes.';
  if (changes.length === 1)
    return `1 change: ${visibleName(only.name)} ${shortJson(only.before)} → ${shortJson(only.after)}.`;
  return `${changes.length} changes: ${changes.map(({ name }) => visibleName(name)).join(', ')}.`;
}

const shortJson = (value: JsonValue): string => {
  const text = visibleText(typeof value === 'string' ? value || '""' : JSON.stringify(value));
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
};
