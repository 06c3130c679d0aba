import { expect, it } from 'vitest';
import type { JsonObject } from '../../json.ts';
import { providerSchema, rootSchema } from './provider-schema.ts';
import { isRecursive } from './schema-refs.ts';

const inside = (a: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties: { a },
  ...more,
});
const email = '^(?!\\.)[a-z]+@[a-z]+$';

it.each<[string, JsonObject, JsonObject]>([
  [
    'a pattern with lookaround beside a format is dropped',
    inside({ type: 'string', format: 'email', pattern: email }),
    inside({ type: 'string', format: 'email' }),
  ],
  [
    'another one becomes a part of the description',
    inside({ type: 'string', pattern: email, description: 'Who.' }),
    inside({ type: 'string', description: `Who.\nPattern: ${email}` }),
  ],
  [
    'a long one is dropped',
    inside({ type: 'string', pattern: `(?=${'a'.repeat(300)})` }),
    inside({ type: 'string' }),
  ],
  [
    'a back reference, in a list of a definition',
    inside(
      { $ref: '#/$defs/b' },
      { $defs: { b: { items: { type: 'string', pattern: '(.)\\1' } } } },
    ),
    inside(
      { $ref: '#/$defs/b' },
      { $defs: { b: { items: { type: 'string', description: 'Pattern: (.)\\1' } } } },
    ),
  ],
  ['a constant gets its type', inside({ const: 1 }), inside({ const: 1, type: 'number' })],
  ['values get theirs', inside({ enum: [true] }), inside({ enum: [true], type: 'boolean' })],
  [
    'values of several types become a choice',
    inside({ enum: ['x', 1, null], description: 'One.' }),
    inside({
      description: 'One.',
      anyOf: [
        { type: 'string', enum: ['x'] },
        { type: 'number', enum: [1] },
        { type: 'null', enum: [null] },
      ],
    }),
  ],
])('%s', (_what, schema, expected) => {
  expect(providerSchema(schema)).toEqual(expected);
});

it.each<[string, JsonObject]>([
  ['an ordinary pattern', inside({ type: 'string', pattern: '^(?:a|b)$' })],
  ['data that looks like a schema', inside({ type: 'string', enum: ['(?=x)'], default: '(?=x)' })],
  ['values with objects', inside({ enum: [{ a: 1 }, 2] })],
  ['a property named pattern', { type: 'object', properties: { pattern: { type: 'string' } } }],
])('%s stays, and the schema is the same object', (_what, schema) => {
  expect(providerSchema(schema)).toBe(schema);
});

it('the result is the same object in every request', () => {
  const schema = inside({ const: 1 });
  expect(providerSchema(schema)).toBe(providerSchema(schema));
});

it.each<[string, JsonObject, JsonObject]>([
  [
    'to the root',
    inside({ type: 'array', items: { $ref: '#' } }),
    inside(
      { type: 'array', items: { $ref: '#/$defs/ref1' } },
      { $defs: { ref1: inside({ type: 'array', items: { $ref: '#/$defs/ref1' } }) } },
    ),
  ],
  [
    'to a property, beside a definition of the same name',
    {
      properties: { a: { type: 'string' }, b: { $ref: '#/properties/a' } },
      $defs: { ref2: { type: 'null' } },
    },
    {
      properties: { a: { type: 'string' }, b: { $ref: '#/$defs/ref3' } },
      $defs: { ref2: { type: 'null' }, ref3: { type: 'string' } },
    },
  ],
  ['to nothing', inside({ $ref: '#/properties/b' }), inside({ $ref: '#/properties/b' })],
  ['that is not a pointer', inside({ $ref: '#%' }), inside({ $ref: '#%' })],
])('references %s point to definitions', (_what, schema, expected) => {
  const changed = rootSchema(schema);
  expect(changed).toEqual(expected);
  expect(rootSchema(schema)).toBe(changed);
});

it.each<[string, JsonObject, boolean]>([
  ['itself', inside({ $ref: '#' }), true],
  [
    'itself through definitions',
    inside(
      { $ref: '#/$defs/b' },
      { $defs: { b: inside({ $ref: '#/$defs/c' }), c: { $ref: '#/$defs/b' } } },
    ),
    true,
  ],
  [
    'one definition twice',
    {
      properties: { a: { $ref: '#/$defs/b' }, c: { $ref: '#/$defs/b' } },
      $defs: { b: { type: 'string' } },
    },
    false,
  ],
  ['a definition that is not used', { type: 'string', $defs: { b: { $ref: '#/$defs/b' } } }, false],
  ['nothing', inside({ type: 'string' }), false],
])('whether a schema that refers to %s is recursive', (_what, schema, expected) => {
  expect(isRecursive(schema)).toBe(expected);
});
