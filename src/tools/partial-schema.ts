import { isRecord, type JsonValue } from '../json.ts';
import { compileSchema } from './json-schema/compile-schema.ts';
import { textRules } from './json-schema/text-rules.ts';
import type { JsonSchema } from './schema.ts';

/** Creates a check of incomplete values, which passes if the value can still become valid. */
export function partialCheck(schema: JsonSchema): (value: unknown) => boolean {
  const problemsOf = compileSchema(partialSchema(schema), textRules);
  return (value) => problemsOf(value).length === 0;
}

/** Keywords about a complete value, or that a longer text can still satisfy. */
const ofWholeValues: ReadonlySet<string> = new Set([
  'required',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'minProperties',
  'minItems',
  'minContains',
  'contains',
  'uniqueItems',
  'minLength',
  'pattern',
  'format',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const mapsOfSchemas: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
]);
/** Keywords with values that are data, even if they look like schemas. */
const data: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples']);

function partialSchema(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(partialSchema);
  if (!isRecord(schema)) return schema;
  const { oneOf, ...rest } = schema;
  const kept = Object.entries(rest)
    .filter(([key]) => !ofWholeValues.has(key))
    .map(([key, value]): [string, JsonValue] => [key, partialKeyword(key, value)]);
  // while parts are missing, a value may match several of the alternatives
  if (oneOf !== undefined)
    kept.push(['allOf', [...listOf(rest['allOf']), { anyOf: oneOf }].map(partialSchema)]);
  return Object.fromEntries(kept);
}

function partialKeyword(key: string, value: JsonValue): JsonValue {
  if (data.has(key)) return value;
  if (!mapsOfSchemas.has(key) || !isRecord(value)) return partialSchema(value);
  const parts = Object.entries(value);
  return Object.fromEntries(parts.map(([name, part]) => [name, partialSchema(part)]));
}

const listOf = (value: JsonValue | undefined): readonly JsonValue[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]) : [];
