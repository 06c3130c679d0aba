import { show } from '../errors/agent-error.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { jsonSchemaCheck, type JsonSchema, type SchemaCheck } from '../tools/json-schema-check.ts';
import { ApiRefusal } from './refusal.ts';

/** One value of a request: both the check and the OpenAPI document derive from it. */
export interface Field {
  readonly schema: JsonSchema;
  /** Text after "expected", also used in the document. */
  readonly expected: string;
  readonly isRequired?: true;
  /** Maximum items or keys, checked before the schema, because checking very many takes long. */
  readonly maxEntries?: number;
}

/** One field for each name that a handler reads. */
export type FieldsOf<T> = { readonly [K in keyof T]-?: Field };
export type Fields = Readonly<Record<string, Field>>;

export interface FieldReader {
  /** Reads a JSON body. An unknown name is refused, because it may be a typing error. */
  body(body: JsonObject): Promise<JsonObject>;
  /** Reads a query. Texts are converted to the types of the schema, and unknown names are ignored. */
  query(params: URLSearchParams): Promise<JsonObject>;
}

interface Problem extends JsonObject {
  readonly field: string;
  readonly seen: string;
  readonly expected: string;
}

/** A rule over several fields; the description documents it. */
export type Rules = JsonSchema & { readonly description: string };

export function fieldReader(what: string, fields: Fields, rules?: Rules): FieldReader {
  const ready = new Map<string, Field & { readonly check: SchemaCheck }>();
  for (const [name, field] of Object.entries(fields))
    ready.set(name, { ...field, check: jsonSchemaCheck(`${what} ${name}`, field.schema) });
  const together = rules && jsonSchemaCheck(what, rules);

  const checked = async (values: JsonObject): Promise<JsonObject> => {
    const problems: Problem[] = [];
    for (const [field, { check, expected, isRequired, maxEntries }] of ready) {
      const value = Object.hasOwn(values, field) ? values[field] : undefined;
      if (value === undefined) {
        if (isRequired) problems.push({ field, seen: 'nothing', expected });
      } else if (hasTooMany(value, maxEntries) || !(await check(value)).ok)
        problems.push({ field, seen: seenAs(value), expected });
    }
    if (problems.length > 0) throw invalid(problems);
    if (rules && together && !(await together(values)).ok)
      throw new ApiRefusal('invalid_request', rules.description);
    return values;
  };

  return {
    body(body) {
      const unknown = Object.keys(body).filter((name) => !ready.has(name));
      if (unknown.length > 0) throw unknownFields(unknown, [...ready.keys()]);
      return checked(body);
    },
    query(params) {
      const values: Record<string, JsonValue> = {};
      for (const [name, { schema }] of ready) {
        const [text, second] = params.getAll(name);
        if (second !== undefined)
          throw new ApiRefusal('invalid_request', `The query has ${name} more than once.`);
        if (text !== undefined && text !== '') values[name] = typed(text, schema);
      }
      return checked(values);
    },
  };
}

const hasTooMany = (value: JsonValue, most: number | undefined): boolean =>
  most !== undefined &&
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).length > most;

/** Describes a value in an error. Names and numbers are quoted, free text is not, because it may be confidential. */
const seenAs = (value: JsonValue): string =>
  typeof value === 'string' && !/^[^\s]{0,40}$/.test(value)
    ? `a text of ${value.length} characters`
    : show(value);

const typed = (text: string, { type }: JsonSchema): JsonValue =>
  (type === 'integer' && /^-?\d{1,15}$/.test(text)) ||
  (type === 'number' && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text))
    ? Number(text)
    : text;

function invalid(problems: readonly Problem[]): ApiRefusal {
  const words = problems.map(
    ({ field, seen, expected }) => `${field} got ${seen}, expected ${expected}`,
  );
  return new ApiRefusal('invalid_request', `${words.join('; ')}.`, {
    details: { fields: problems },
  });
}

function unknownFields(names: readonly string[], known: readonly string[]): ApiRefusal {
  const shown = names.slice(0, 5).map(show).join(', ');
  const takes = known.length > 0 ? `It accepts ${known.join(', ')}.` : 'It accepts none.';
  return new ApiRefusal('invalid_request', `The body has unknown fields: ${shown}. ${takes}`, {
    details: { known },
  });
}
