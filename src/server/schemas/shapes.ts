import type { JsonSchema } from '../../tools/schema.ts';

type Schemas = Readonly<Record<string, JsonSchema>>;

export const text: JsonSchema = { type: 'string' };
export const flag: JsonSchema = { type: 'boolean' };
export const number: JsonSchema = { type: 'number' };
export const count: JsonSchema = { type: 'integer', minimum: 0 };
export const time: JsonSchema = { type: 'string', format: 'date-time' };
/** Any JSON. */
export const anything: JsonSchema = {};
export const record: JsonSchema = { type: 'object', additionalProperties: true };

export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

export const oneOfTexts = (values: readonly string[]): JsonSchema => ({
  type: 'string',
  enum: [...values],
});

export const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });

export const mapOf = (values: JsonSchema): JsonSchema => ({
  type: 'object',
  additionalProperties: values,
});

export const orNull = (schema: JsonSchema): JsonSchema => ({
  anyOf: [schema, { type: 'null' }],
});

export const either = (...schemas: readonly JsonSchema[]): JsonSchema => ({ anyOf: [...schemas] });

/** Creates an object schema; every property is required, except those of `optional`. */
export const object = (properties: Schemas, optional: Schemas = {}): JsonSchema => ({
  type: 'object',
  properties: { ...properties, ...optional },
  required: Object.keys(properties),
});
