import type { JsonObject, JsonValue } from '../../json.ts';
import { mapSchema, perSchema } from './map-schema.ts';
import { withRootRefs } from './schema-refs.ts';

/**
 * Returns a schema of a tool or a response format as every provider accepts it. The value is checked by the original
 * schema, so the copy may allow more.
 */
export const providerSchema: (schema: JsonObject) => JsonObject = perSchema((schema) =>
  accepted(schema),
);

/** Returns the same schema with all references to the root, for packages that read no others. */
export const rootSchema: (schema: JsonObject) => JsonObject = perSchema((schema) =>
  withRootRefs(accepted(schema)),
);

const accepted = (schema: JsonObject): JsonObject =>
  withType(withoutLookaround(mapSchema(schema, accepted)));

/** Syntax of patterns that providers refuse, because their engines read each character once. */
const lookaround = /\(\?<?[=!]|\\[1-9]|\\k</;
/** Maximum characters of a pattern in a description. */
const MAX_PATTERN = 300;

/** Moves a pattern with lookaround or a back reference to the description. */
function withoutLookaround(schema: JsonObject): JsonObject {
  const { pattern, description, ...rest } = schema;
  if (typeof pattern !== 'string' || !lookaround.test(pattern)) return schema;
  const hint = pattern.length > MAX_PATTERN || 'format' in rest ? [] : [`Pattern: ${pattern}`];
  const said = [...(typeof description === 'string' ? [description] : []), ...hint].join('\n');
  return said === '' ? rest : { ...rest, description: said };
}

/** Adds the type of fixed values, which some providers require; values of several types become a choice. */
function withType(schema: JsonObject): JsonObject {
  if (['type', 'anyOf', 'oneOf', 'allOf', '$ref'].some((key) => key in schema)) return schema;
  const { const: only, enum: list, ...rest } = schema;
  if (only !== undefined && list === undefined) {
    const type = typeOf(only);
    return type === null ? schema : { ...schema, type };
  }
  if (!Array.isArray(list) || only !== undefined) return schema;
  const values = list as readonly JsonValue[];
  const types = [...new Set(values.map(typeOf))];
  const [type] = types;
  if (type === undefined || types.includes(null)) return schema;
  if (types.length === 1) return { ...schema, type };
  const anyOf = types.map((each) => ({
    type: each,
    enum: values.filter((value) => typeOf(value) === each),
  }));
  return { ...rest, anyOf };
}

/** Returns the type of a fixed value; null for a list or an object. */
function typeOf(value: JsonValue): string | null {
  if (value === null) return 'null';
  return typeof value === 'object' ? null : typeof value;
}
