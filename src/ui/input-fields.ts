import { isRecord, own, type JsonValue } from '../json.ts';

/** One field of a form that a tool asks for. */
export interface InputField {
  readonly name: string;
  readonly title: string;
  readonly description: string | null;
  readonly isRequired: boolean;
  readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  readonly choices: readonly InputChoice[];
  readonly format: string | null;
  /** Limits of the length, the value, or the number of choices. */
  readonly min: number | null;
  readonly max: number | null;
  readonly initial: FieldDraft;
}

export interface InputChoice {
  readonly value: string;
  readonly title: string;
}

/** What the user has entered: a text, or the selected values. */
export type FieldDraft = string | readonly string[];

/** Why a value does not fit its field. */
export type InputFieldProblem =
  | { readonly kind: 'missing' | 'number' | 'integer' }
  | { readonly kind: 'format'; readonly format: string }
  | {
      readonly kind: 'short' | 'long' | 'small' | 'large' | 'few' | 'many';
      readonly limit: number;
    };

export type InputFieldValue =
  | { readonly ok: true; readonly value: JsonValue | undefined }
  | { readonly ok: false; readonly problem: InputFieldProblem };

const MAX_FIELDS = 40;
const MAX_CHOICES = 200;
const MAX_TITLE = 200;
const MAX_DESCRIPTION = 1_000;

/** Returns the fields of a flat form; null if the schema needs an answer as JSON. */
export function inputFieldsOf(schema: unknown): readonly InputField[] | null {
  if (!isRecord(schema) || own(schema, 'type') !== 'object') return null;
  if (composed.some((word) => Object.hasOwn(schema, word))) return null;
  const properties = own(schema, 'properties') ?? {};
  const required = own(schema, 'required') ?? [];
  if (!isRecord(properties) || !Array.isArray(required)) return null;
  const entries = Object.entries(properties);
  const isDescribed = required.every((name) => Object.hasOwn(properties, name as string));
  if (entries.length > MAX_FIELDS || !isDescribed) return null;
  const fields: InputField[] = [];
  for (const [name, property] of entries) {
    const field = isRecord(property) ? fieldOf(name, property, required.includes(name)) : null;
    if (!field) return null;
    fields.push(field);
  }
  return fields;
}

type Schema = Readonly<Record<string, unknown>>;

/** Keywords with which the fields alone do not describe what is accepted. */
const composed = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'minProperties', 'maxProperties'];

function fieldOf(name: string, schema: Schema, isRequired: boolean): InputField | null {
  const { type } = schema;
  const items = type === 'array' ? own(schema, 'items') : undefined;
  const choices = choicesIn(isRecord(items) ? items : schema);
  const kind = kindOf(type, choices !== null);
  if (kind === null || Object.hasOwn(schema, '$ref')) return null;
  const [low, high] = limitNames[kind];
  return {
    name,
    title: clipped(textIn(schema, 'title') ?? name, MAX_TITLE),
    description: clipped(textIn(schema, 'description') ?? '', MAX_DESCRIPTION) || null,
    isRequired,
    kind,
    choices: choices ?? [],
    format: textIn(schema, 'format'),
    min: numberIn(schema, low),
    max: numberIn(schema, high),
    initial: draftOf(own(schema, 'default'), kind, choices ?? []),
  };
}

function kindOf(type: unknown, hasChoices: boolean): InputField['kind'] | null {
  switch (type) {
    case 'string':
      return hasChoices ? 'choice' : 'text';
    case 'array':
      return hasChoices ? 'choices' : null;
    case 'number':
    case 'integer':
    case 'boolean':
      return hasChoices ? null : type;
    default:
      return null;
  }
}

const limitNames: Readonly<Record<InputField['kind'], readonly [string, string]>> = {
  text: ['minLength', 'maxLength'],
  choice: ['minLength', 'maxLength'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  boolean: ['', ''],
  choices: ['minItems', 'maxItems'],
};

/** Returns the values of `enum`, or of constants with titles; null if there are none or too many. */
function choicesIn(schema: Schema): readonly InputChoice[] | null {
  const values = own(schema, 'enum');
  const titled = own(schema, 'oneOf') ?? own(schema, 'anyOf');
  const names = own(schema, 'enumNames');
  const given = Array.isArray(values) ? values : titled;
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_CHOICES) return null;
  const choices = given.map((one, i): InputChoice | null => {
    const value = isRecord(one) ? own(one, 'const') : one;
    const name = isRecord(one) ? own(one, 'title') : Array.isArray(names) ? names[i] : value;
    return typeof value === 'string'
      ? { value, title: clipped(typeof name === 'string' ? name : value, MAX_TITLE) }
      : null;
  });
  return choices.every((choice) => choice !== null) ? choices : null;
}

function draftOf(
  given: unknown,
  kind: InputField['kind'],
  choices: readonly InputChoice[],
): FieldDraft {
  const isChoice = (value: unknown): value is string =>
    choices.some((choice) => choice.value === value);
  switch (kind) {
    case 'choices':
      return Array.isArray(given) ? given.filter(isChoice) : [];
    case 'choice':
      return given !== undefined && isChoice(given) ? given : '';
    case 'boolean':
      return typeof given === 'boolean' ? String(given) : '';
    case 'text':
      return typeof given === 'string' ? given : '';
    default:
      return typeof given === 'number' ? String(given) : '';
  }
}

/** Reads one field. Only what the form shows is checked; the server checks the answer against the whole schema. */
export function readInputField(field: InputField, draft: FieldDraft): InputFieldValue {
  if (typeof draft !== 'string') return readChoices(field, draft);
  if (draft === '' || (field.kind !== 'text' && draft.trim() === ''))
    return field.isRequired ? bad({ kind: 'missing' }) : { ok: true, value: undefined };
  switch (field.kind) {
    case 'boolean':
      return { ok: true, value: draft === 'true' };
    case 'number':
    case 'integer':
      return readNumber(field, Number(draft));
    case 'text':
      return readText(field, draft);
    default:
      return { ok: true, value: draft };
  }
}

function readChoices({ isRequired, min, max }: InputField, chosen: readonly string[]) {
  if (chosen.length === 0 && !isRequired) return { ok: true, value: undefined } as const;
  if (min !== null && chosen.length < min) return bad({ kind: 'few', limit: min });
  if (max !== null && chosen.length > max) return bad({ kind: 'many', limit: max });
  return { ok: true, value: [...chosen] } as const;
}

function readNumber({ kind, min, max }: InputField, value: number): InputFieldValue {
  if (!Number.isFinite(value)) return bad({ kind: 'number' });
  if (kind === 'integer' && !Number.isInteger(value)) return bad({ kind: 'integer' });
  if (min !== null && value < min) return bad({ kind: 'small', limit: min });
  if (max !== null && value > max) return bad({ kind: 'large', limit: max });
  return { ok: true, value };
}

function readText({ min, max, format }: InputField, text: string): InputFieldValue {
  const length = Array.from(text).length;
  if (min !== null && length < min) return bad({ kind: 'short', limit: min });
  if (max !== null && length > max) return bad({ kind: 'long', limit: max });
  const isFormat = format === null ? undefined : own(formats, format);
  return isFormat && !isFormat(text)
    ? bad({ kind: 'format', format: format ?? '' })
    : { ok: true, value: text };
}

/** Plain checks that find a typing error. */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text) => /^\d{4}-\d\d-\d\dT/i.test(text) && !Number.isNaN(Date.parse(text)),
};

const bad = (problem: InputFieldProblem): InputFieldValue & { readonly ok: false } => ({
  ok: false,
  problem,
});

function textIn(schema: Schema, name: string): string | null {
  const value = own(schema, name);
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

function numberIn(schema: Schema, name: string): number | null {
  const value = own(schema, name);
  return typeof value === 'number' ? value : null;
}

const clipped = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;
