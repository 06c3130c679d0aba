import { isRecord, type JsonObject, type JsonValue } from '../../json.ts';
import { mapSchema, perSchema } from './map-schema.ts';
import { providerSchema } from './provider-schema.ts';

/** Keywords that strict mode supports. */
const supported = new Set([
  '$defs',
  '$ref',
  'additionalProperties',
  'anyOf',
  'const',
  'definitions',
  'description',
  'enum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'format',
  'items',
  'maximum',
  'maxItems',
  'minimum',
  'minItems',
  'multipleOf',
  'pattern',
  'properties',
  'required',
  'title',
  'type',
]);

/** Keywords that only describe a value and are left out. */
const notes = new Set([
  '$comment',
  '$id',
  '$schema',
  'deprecated',
  'examples',
  'id',
  'readOnly',
  'writeOnly',
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

/** Keywords of which a schema needs one: strict mode refuses a schema that allows anything. */
const says = ['type', 'anyOf', '$ref'];

/** Limits of strict mode: objects inside of objects, properties and fixed values of the whole schema. */
const MAX_LEVELS = 10;
const MAX_PROPERTIES = 5_000;
const MAX_VALUES = 1_000;

/**
 * Converts a schema for strict mode: closed objects with every property required, at every level. An object that does
 * not say whether it is closed becomes closed; null if the schema has anything that strict mode does not support.
 */
export const strictSchema: (schema: JsonObject) => JsonObject | null = perSchema((schema) => {
  // the root has to be an object, and no choice
  if (schema['type'] !== 'object' || 'anyOf' in schema || '$ref' in schema) return null;
  const closing = new Closing();
  const closed = closing.close(providerSchema(schema), 0);
  return closing.isPossible ? closed : null;
});

/** Closes a schema, and notes whether strict mode supports all of it. */
class Closing {
  isPossible = true;
  #properties = 0;
  #values = 0;

  close(schema: JsonObject, level: number): JsonObject {
    const isObject = hasType(schema, 'object') || 'properties' in schema;
    const inner = isObject ? level + 1 : level;
    if (!this.#supports(schema, isObject) || inner > MAX_LEVELS) this.isPossible = false;
    if (!this.isPossible) return schema;
    const { $ref } = schema;
    // the API accepts nothing beside a reference
    if ($ref !== undefined) return { $ref };
    const entries = Object.entries(schema).filter(([key]) => !notes.has(key));
    const kept = mapSchema(Object.fromEntries(entries), (child) => this.close(child, inner));
    if (!isObject) return kept;
    return { ...kept, required: kept['required'] ?? [], additionalProperties: false };
  }

  #supports(schema: JsonObject, isObject: boolean): boolean {
    const { $ref, format, items, properties, enum: values } = schema;
    const keys = Object.keys(schema).filter((key) => !notes.has(key));
    if ($ref !== undefined)
      return keys.every((key) => key === '$ref' || key === 'description' || key === 'title');
    if (!keys.every((key) => supported.has(key)) || !says.some((key) => key in schema))
      return false;
    if (format !== undefined && !formats.has(format)) return false;
    // a list or a map of schemas may contain `true`, which allows anything
    if (hasType(schema, 'array') && !isRecord(items)) return false;
    if (!['anyOf', '$defs', 'definitions'].every((key) => onlySchemas(schema[key]))) return false;
    if (Array.isArray(values)) this.#values += values.length;
    if (isRecord(properties)) this.#properties += Object.keys(properties).length;
    if (this.#values > MAX_VALUES || this.#properties > MAX_PROPERTIES) return false;
    return !isObject || isComplete(schema);
  }
}

const hasType = ({ type }: JsonObject, name: string): boolean =>
  type === name || (Array.isArray(type) && type.includes(name));

/** Whether an object is closed, or does not say, and requires each of its properties. */
function isComplete({ properties, required, additionalProperties = false }: JsonObject): boolean {
  const listed: readonly unknown[] = Array.isArray(required) ? required : [];
  return (
    additionalProperties === false &&
    isRecord(properties) &&
    onlySchemas(properties) &&
    Object.keys(properties).every((name) => listed.includes(name))
  );
}

const onlySchemas = (value: JsonValue | undefined): boolean =>
  value === undefined || Object.values(value as object).every(isRecord);
