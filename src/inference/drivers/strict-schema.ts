import { isRecord, type JsonObject, type JsonValue } from '../../json.ts';

/** Keywords that strict mode does not support. */
const loose = new Set([
  'oneOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'default',
  'patternProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'dependentSchemas',
  'dependentRequired',
  'prefixItems',
  'contains',
  'minContains',
  'maxContains',
  'uniqueItems',
  'minLength',
  'maxLength',
]);

/** Formats of texts that strict mode supports. */
const formats: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
]);

/** Keywords whose value is a map from names to schemas: the names are no keywords. */
const maps = new Set(['properties', '$defs', 'definitions']);
/** Keywords whose value is data. */
const data = new Set(['enum', 'const', 'examples', 'required', 'type']);

/**
 * Converts a schema for strict mode: closed objects with every property required, at every level. An object that does
 * not say whether it is closed becomes closed; null if the schema has anything that strict mode does not support.
 */
export function strictSchema(schema: JsonObject): JsonObject | null {
  // the root has to be an object
  if (schema['type'] !== 'object') return null;
  const closed = close(schema);
  return isRecord(closed) ? closed : null;
}

function close(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) return all(value.map(close));
  if (!isRecord(value)) return typeof value === 'boolean' ? undefined : value;
  if (!says.some((key) => key in value)) return undefined;
  const entries: [string, JsonValue][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const kept = closedKeyword(key, inner);
    if (kept === undefined) return undefined;
    entries.push([key, kept]);
  }
  const copy = Object.fromEntries(entries);
  if (value['type'] !== 'object' && !isRecord(value['properties'])) return copy;
  const { properties, required, additionalProperties = false } = value;
  const listed: readonly unknown[] = Array.isArray(required) ? required : [];
  const isClosed =
    additionalProperties === false &&
    isRecord(properties) &&
    Object.keys(properties).every((name) => listed.includes(name));
  return isClosed ? { ...copy, additionalProperties: false } : undefined;
}

/** Keywords of which a schema needs one: strict mode refuses a schema that allows anything. */
const says = ['type', 'enum', 'const', 'anyOf', '$ref', 'properties'];

function closedKeyword(key: string, value: JsonValue): JsonValue | undefined {
  if (loose.has(key) || (key === 'format' && !formats.has(value))) return undefined;
  if (data.has(key)) return value;
  if (maps.has(key) && isRecord(value)) return closedMap(value);
  if (key === 'items' || key === 'anyOf') return close(value);
  return key === 'additionalProperties' || typeof value !== 'object' ? value : undefined;
}

function closedMap(map: Readonly<Record<string, JsonValue>>): JsonValue | undefined {
  const schemas = all(Object.values(map).map(close));
  return (
    schemas && Object.fromEntries(Object.keys(map).map((name, i) => [name, schemas[i] ?? null]))
  );
}

/** Returns the list if nothing in it is missing. */
const all = (list: readonly (JsonValue | undefined)[]): JsonValue[] | undefined =>
  list.includes(undefined) ? undefined : (list as JsonValue[]); // checked
