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

const words = (count: number): string[] => Array.from({ length: count }, (_, i) => `w${i}`);
const nested = (levels: number): JsonObject => (levels === 1 ? closed : inside(nested(levels - 1)));

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
  [
    'a reference with a description, beside which nothing is accepted',
    inside({ $ref: '#/$defs/b', description: 'home' }),
    inside({ $ref: '#/$defs/b' }),
  ],
  ['a reference to itself', inside({ $ref: '#' }), inside({ $ref: '#' })],
  ['a reference with more conditions', inside({ $ref: '#', minLength: 1 }), null],
  [
    'examples, which are notes',
    inside({ type: 'string', examples: ['x'] }),
    inside({ type: 'string' }),
  ],
  ['an unknown keyword', inside({ type: 'string', 'x-order': 1 }), null],
  [
    'fixed values without a type',
    inside({ enum: ['x', 'y'] }),
    inside({ enum: ['x', 'y'], type: 'string' }),
  ],
  [
    'an object without properties',
    inside({ ...closed, properties: {}, required: [] }),
    inside({ ...closed, properties: {}, required: [] }),
  ],
  ['an object or null, without properties', inside({ type: ['object', 'null'] }), null],
  ['a list without items', inside({ type: 'array' }), null],
  ['a list of anything', inside({ type: 'array', items: true }), null],
  ['a choice of anything', inside({ anyOf: [{ type: 'string' }, true] }), null],
  [
    'a pattern with lookaround',
    inside({ type: 'string', format: 'email', pattern: '^(?!a)b$' }),
    inside({ type: 'string', format: 'email' }),
  ],
  ['eleven levels of objects', nested(11), null],
  ['ten levels of objects', nested(10), nested(10)],
  ['more fixed values than are allowed', inside({ type: 'string', enum: words(1_001) }), null],
  ['more properties than are allowed', named(...words(5_001)), null],
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
