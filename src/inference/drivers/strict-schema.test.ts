import { expect, it } from 'vitest';
import type { JsonObject } from '../../json.ts';
import { strictSchema } from './strict-schema.ts';

const closed = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
};
const { additionalProperties: _said, ...silent } = closed;
const inside = (a: JsonObject): JsonObject => ({ ...closed, properties: { a } });
const named = (...names: readonly string[]): JsonObject => ({
  ...closed,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
});

it.each<[string, JsonObject, JsonObject | null]>([
  ['closed, all required', closed, closed],
  ['additionalProperties absent', silent, closed],
  [
    'additionalProperties absent in a nested object',
    inside({ type: 'array', items: silent }),
    inside({ type: 'array', items: closed }),
  ],
  [
    'a choice',
    inside({ anyOf: [silent, { type: 'null' }] }),
    inside({ anyOf: [closed, { type: 'null' }] }),
  ],
  ['properties named like keywords', named('not', 'default'), named('not', 'default')],
  [
    'data that looks like a schema',
    inside({ enum: ['oneOf'], type: 'string' }),
    inside({ enum: ['oneOf'], type: 'string' }),
  ],
  ['definitions', { ...closed, $defs: { b: silent } }, { ...closed, $defs: { b: closed } }],
  [
    'a known format',
    inside({ type: 'string', format: 'date' }),
    inside({ type: 'string', format: 'date' }),
  ],
  ['an unknown format', inside({ type: 'string', format: 'uri' }), null],
  ['a default value', inside({ type: 'string', default: 'x' }), null],
  ['a tuple', inside({ type: 'array', prefixItems: [{ type: 'string' }] }), null],
  ['a value of any kind', inside({}), null],
  ['a root that is not an object', { type: 'array', items: closed }, null],
  ['a root that is a choice', { anyOf: [closed, { type: 'null' }] }, null],
  ['an optional property', { ...closed, required: [] }, null],
  ['open', { ...closed, additionalProperties: true }, null],
  ['a dictionary', { type: 'object', additionalProperties: { type: 'string' } }, null],
  ['anything', { type: 'object' }, null],
  ['an open nested object', { ...closed, properties: { a: { type: 'object' } } }, null],
  ['a keyword that strict mode does not support', inside({ oneOf: [closed] }), null],
])('strict mode: %s', (_what, schema, expected) => {
  expect(strictSchema(schema)).toEqual(expected);
});
