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

it.each<[string, JsonObject, JsonObject | null]>([
  ['closed, all required', closed, closed],
  ['says nothing about more', silent, closed],
  ['says nothing further down', { type: 'array', items: silent }, { type: 'array', items: closed }],
  ['a choice', { anyOf: [silent, { type: 'null' }] }, { anyOf: [closed, { type: 'null' }] }],
  ['an optional property', { ...closed, required: [] }, null],
  ['open', { ...closed, additionalProperties: true }, null],
  ['a dictionary', { type: 'object', additionalProperties: { type: 'string' } }, null],
  ['anything', { type: 'object' }, null],
  ['open further down', { ...closed, properties: { a: { type: 'object' } } }, null],
  ['a keyword that strict mode does not know', { oneOf: [closed] }, null],
])('strict mode: %s', (_what, schema, expected) => {
  expect(strictSchema(schema)).toEqual(expected);
});
