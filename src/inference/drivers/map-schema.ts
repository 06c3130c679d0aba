import { isRecord, type JsonObject, type JsonValue } from '../../json.ts';

/** Keywords whose value is a schema, or a list of schemas. */
const schemas = new Set([
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'prefixItems',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);

/** Keywords whose value is a map from names to schemas. */
const maps = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

type Change = (schema: JsonObject) => JsonObject;

/** Changes the schemas directly inside of a schema. Data is not read; a schema without a change is returned itself. */
export function mapSchema(schema: JsonObject, change: Change): JsonObject {
  let copy: Record<string, JsonValue> | null = null;
  for (const [key, value] of Object.entries(schema)) {
    const changed = schemas.has(key)
      ? changeIn(value, change)
      : maps.has(key) && isRecord(value)
        ? mapValues(value, change)
        : value;
    if (changed !== value) (copy ??= { ...schema })[key] = changed;
  }
  return copy ?? schema;
}

/** Returns the schemas directly inside of a schema. */
export function schemasIn(schema: JsonObject): readonly JsonObject[] {
  const inside: JsonObject[] = [];
  mapSchema(schema, (inner) => {
    inside.push(inner);
    return inner;
  });
  return inside;
}

function changeIn(value: JsonValue, change: Change): JsonValue {
  if (isRecord(value)) return change(value);
  if (!Array.isArray(value)) return value;
  const items = value as readonly JsonValue[];
  const changed = items.map((item) => (isRecord(item) ? change(item) : item));
  return changed.every((item, i) => item === items[i]) ? value : changed;
}

function mapValues(map: JsonObject, change: Change): JsonObject {
  const entries = Object.entries(map).map(
    ([name, inner]) => [name, isRecord(inner) ? change(inner) : inner] as const,
  );
  return entries.every(([name, inner]) => inner === map[name]) ? map : Object.fromEntries(entries);
}

/** Keeps the result for each schema, because every request has the same objects. */
export function perSchema<Result>(
  read: (schema: JsonObject) => Result,
): (schema: JsonObject) => Result {
  const known = new WeakMap<JsonObject, { readonly result: Result }>();
  return (schema) => {
    let entry = known.get(schema);
    if (!entry) known.set(schema, (entry = { result: read(schema) }));
    return entry.result;
  };
}
