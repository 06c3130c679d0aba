import { isRecord, type JsonObject, type JsonValue } from '../../json.ts';

/** Keywords that strict mode does not know. */
const loose = new Set([
  'oneOf',
  'allOf',
  'not',
  'if',
  'patternProperties',
  'propertyNames',
  'dependentSchemas',
]);

/**
 * A schema as strict mode wants it: closed objects with every property required, all the way down. Objects that do not
 * say whether they are closed are closed; null when the schema says anything that strict mode cannot hold.
 */
export function strictSchema(schema: JsonObject): JsonObject | null {
  const closed = close(schema);
  return isRecord(closed) ? closed : null;
}

function close(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) {
    const items = value.map(close);
    return items.includes(undefined) ? undefined : (items as JsonValue[]); // just looked
  }
  if (!isRecord(value)) return value;
  const entries: [string, JsonValue][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const kept = loose.has(key) ? undefined : close(inner);
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
