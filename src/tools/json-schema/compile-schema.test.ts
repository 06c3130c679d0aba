import { Validator, type Schema } from '@cfworker/json-schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileSchema as compile } from './compile-schema.ts';
import { textRules } from './text-rules.ts';

const key = fc.constantFrom('a', 'b', 'c');
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    fc.constantFrom(null, true, 0, 1, 2, 1.5, '', 'a', 'ab', '2024-01-01'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
})).value;

const schemas = fc.letrec<{ schema: Schema | boolean }>((tie) => {
  const list = fc.array(tie('schema'), { minLength: 1, maxLength: 3 });
  return {
    schema: fc.oneof(
      { depthSize: 'small', maxDepth: 4 },
      fc.constantFrom<Schema | boolean>(
        true,
        false,
        {},
        { type: 'string' },
        { type: ['number', 'null'] },
        { type: 'integer' },
        { $ref: '#/$defs/node' },
        { $ref: '#leaf' },
        { $ref: 'other' },
        { pattern: '^a+b*$' },
        { format: 'date' },
      ),
      fc
        .array(
          fc.oneof(
            ...Object.entries({
              type: fc.constantFrom('object', 'array', 'string', 'number'),
              properties: fc.dictionary(key, tie('schema'), { maxKeys: 3 }),
              patternProperties: fc.dictionary(fc.constantFrom('a|b', '^c'), tie('schema')),
              additionalProperties: tie('schema'),
              required: fc.array(key, { maxLength: 2 }),
              propertyNames: fc.constant({ maxLength: 1, enum: ['a', 'b'] }),
              minProperties: fc.constantFrom(1, 2),
              prefixItems: list,
              items: tie('schema'),
              contains: tie('schema'),
              uniqueItems: fc.boolean(),
              maxItems: fc.constantFrom(1, 2),
              minLength: fc.constantFrom(1, 2),
              minimum: fc.constantFrom(1, 2),
              exclusiveMaximum: fc.constantFrom(1, 2),
              multipleOf: fc.constantFrom(0.5, 2),
              enum: fc.array(json, { minLength: 1, maxLength: 3 }),
              const: json,
              anyOf: list,
              allOf: list,
              oneOf: list,
              not: tie('schema'),
              if: tie('schema'),
              // oxlint-disable-next-line unicorn/no-thenable -- a keyword
              then: tie('schema'),
              else: tie('schema'),
              dependentSchemas: fc.dictionary(key, tie('schema'), { maxKeys: 1 }),
              dependentRequired: fc.dictionary(key, fc.array(key, { maxLength: 1 }), {
                maxKeys: 1,
              }),
            }).map(([name, value]) => fc.tuple(fc.constant(name), value)),
          ),
          { minLength: 1, maxLength: 3 },
        )
        .map((entries) => Object.fromEntries(entries) as Schema),
    ),
  };
}).schema;

const $defs = {
  node: { type: ['object', 'array', 'string'], properties: { a: { $ref: '#/$defs/node' } } },
  leaf: { $anchor: 'leaf', type: ['number', 'boolean'] },
  other: { $id: 'other', $defs: { inner: { minLength: 2 } }, $ref: '#/$defs/inner' },
};

const compileSchema = (schema: unknown) => compile(schema, textRules);

describe('compileSchema', () => {
  it('returns the messages of the previous validator', () => {
    fc.assert(
      fc.property(schemas, fc.array(json, { minLength: 1, maxLength: 4 }), (part, values) => {
        const schema = { allOf: [part], $defs } as Schema;
        const problemsOf = compileSchema(structuredClone(schema));
        const reference = new Validator(structuredClone(schema), '2020-12', false);
        for (const value of values) {
          const { valid } = reference.validate(value);
          expect(problemsOf(value).length === 0, JSON.stringify(value)).toBe(valid);
        }
      }),
      { numRuns: 1_500 },
    );
  });

  it.each<[string, unknown, unknown, RegExp | null]>([
    [
      'keys that anyOf evaluated',
      {
        anyOf: [{ properties: { a: true } }, { required: ['b'], properties: { b: true } }],
        unevaluatedProperties: false,
      },
      { a: 1, b: 2 },
      null,
    ],
    [
      'keys that a failed part evaluated',
      {
        anyOf: [{ properties: { a: true } }, { required: ['z'], properties: { b: true } }],
        unevaluatedProperties: false,
      },
      { a: 1, b: 2 },
      /"b" does not match unevaluated/,
    ],
    [
      'keys that a reference evaluated',
      {
        $ref: '#/$defs/a',
        $defs: { a: { properties: { a: true } } },
        unevaluatedProperties: false,
      },
      { a: 1, b: 2 },
      /"b"/,
    ],
    [
      'the same reference twice',
      {
        allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }],
        $defs: { a: { properties: { a: true } } },
        unevaluatedProperties: false,
      },
      { a: 1 },
      null,
    ],
    [
      'keys that an adjacent keyword evaluated',
      { allOf: [{ properties: { a: true } }, { unevaluatedProperties: false }] },
      { a: 1 },
      /"a"/,
    ],
    [
      'keys that an if evaluated',
      { if: { properties: { a: { const: 1 } }, required: ['a'] }, unevaluatedProperties: false },
      { a: 1 },
      null,
    ],
    [
      'items that contains evaluated',
      { contains: { type: 'string' }, unevaluatedItems: { type: 'number' } },
      ['a', 1],
      null,
    ],
    [
      'items after the first',
      { prefixItems: [true], unevaluatedItems: false },
      [1, 2],
      /^1: False boolean schema\.$/,
    ],
    [
      'too many matching items',
      { contains: { const: 1 }, maxContains: 1 },
      [1, 1],
      /at most 1 items/,
    ],
    [
      'no matching items, if none is required',
      { contains: { const: 1 }, minContains: 0 },
      [],
      null,
    ],
    [
      'a list of items, as in older schemas',
      { items: [{ type: 'string' }], additionalItems: { type: 'number' } },
      ['a', 'b'],
      /^1: Instance type "string"/,
    ],
    [
      'dependencies, as in older schemas',
      { dependencies: { a: ['b'] } },
      { a: 1 },
      /has "a" but does not have "b"/,
    ],
    ['a schema that refers to itself', { $ref: '#' }, 1, null],
    [
      'schemas that refer to each other',
      {
        $ref: '#/$defs/a',
        $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { anyOf: [{ $ref: '#/$defs/a' }] } },
      },
      {},
      null,
    ],
    [
      'a reference to an id inside',
      { $id: 'https://example.com/x', $defs: { y: { $id: 'y', type: 'string' } }, $ref: 'y' },
      1,
      /"string"/,
    ],
    [
      'a dynamic anchor',
      { $dynamicRef: '#node', $defs: { n: { $dynamicAnchor: 'node', type: 'string' } } },
      1,
      /"string"/,
    ],
    [
      'a pointer with odd keys',
      { $ref: '#/$defs/a%20b~1c%25', $defs: { 'a b/c%': { type: 'string' } } },
      1,
      /"string"/,
    ],
    [
      'properties with names of keywords',
      {
        properties: { const: { $ref: '#/$defs/default' } },
        $defs: { default: { type: 'string' } },
      },
      { const: 1 },
      /^const: /,
    ],
    [
      'keys that objects inherit',
      { properties: { a: true }, additionalProperties: false },
      JSON.parse('{"toString":1}'),
      /toString/,
    ],
    ['required keys that objects inherit', { required: ['constructor'] }, {}, /"constructor"/],
    [
      'a lone surrogate as a key',
      { additionalProperties: { type: 'string' } },
      { '\ud800': 1 },
      /Instance type/,
    ],
    [
      'values that are not JSON',
      { properties: { a: true, b: {} } },
      { b: undefined },
      /Instances of "undefined" type are not supported/,
    ],
    [
      'why no part matches',
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
      1,
      /any subschemas\. .*"string"\. .*"null"/,
    ],
    [
      'a value that was checked earlier without reporting',
      { if: { $ref: '#/$defs/s' }, else: { $ref: '#/$defs/s' }, $defs: { s: { type: 'string' } } },
      1,
      /Expected "string"/,
    ],
    [
      'a format with a bound',
      { format: 'email' },
      'a'.repeat(400),
      /format "email": it has 400 characters, at most 318 are allowed/,
    ],
    ['an unknown format', { format: 'constructor' }, 'a', null],
  ])('supports %s', (_case, schema, value, problem) => {
    const problems = compileSchema(structuredClone(schema))(value).join(' ');
    if (problem) expect(problems).toMatch(problem);
    else expect(problems).toBe('');
  });

  it.each<[string, unknown, RegExp]>([
    [
      'an unknown reference',
      { $ref: '#/$defs/none' },
      /\$ref "#\/\$defs\/none" refers to no schema/,
    ],
    ['a reference to an inherited property', { $ref: '#/constructor' }, /refers to no schema/],
    ['an invalid pattern', { properties: { a: { pattern: '(' } } }, /pattern "\(" cannot be used/],
    ['an invalid pattern of keys', { patternProperties: { '(': true } }, /cannot be used/],
  ])('rejects %s at compile time', (_case, schema, message) => {
    expect(() => compileSchema(schema)).toThrow(message);
  });

  it('D92: checks branching references once for each value', () => {
    const branch = (name: string): unknown => ({
      anyOf: [1, 2].map(() => ({
        properties: { a: { $ref: `#/$defs/${name}` } },
        required: ['a'],
        type: 'object',
      })),
    });
    let value: unknown = { a: 'end' };
    for (let i = 0; i < 60; i++) value = { a: value };
    const schema = {
      $defs: { n: { anyOf: [{ type: 'null' }, branch('n'), branch('n')] } },
      $ref: '#/$defs/n',
    };
    expect(compileSchema(schema)(value)).not.toEqual([]);
    const chain = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [
        `n${i}`,
        { allOf: [1, 2].map(() => ({ $ref: `#/$defs/n${i + 1}` })), unevaluatedProperties: true },
      ]),
    );
    const long = { $defs: { ...chain, n60: { type: 'object' } }, $ref: '#/$defs/n0' };
    expect(compileSchema(long)({ x: 1 })).toEqual([]);
    expect(compileSchema(long)('text')).not.toEqual([]);
  });

  it('accepts exclusive bounds of draft 4', () => {
    const problemsOf = compileSchema({
      minimum: 1,
      exclusiveMinimum: true,
      maximum: 3,
      exclusiveMaximum: true,
    });
    expect([1, 2, 3].map((value) => problemsOf(value).length === 0)).toEqual([false, true, false]);
  });

  it('D92: does not compare each item with all others', () => {
    const problemsOf = compileSchema({ uniqueItems: true });
    const items = Array.from({ length: 100_000 }, (_, i) => ({ id: i, odd: i % 2 === 1 }));
    expect(problemsOf(items)).toEqual([]);
    expect(problemsOf([...items, { odd: true, id: 1 }])).toEqual([
      'Duplicate items at indexes 1 and 100000.',
    ]);
    expect(problemsOf([1, '1', [1], ['1'], { a: 1 }, null, 'null', true])).toEqual([]);
  });

  it('D92: reports few of many problems', () => {
    const problemsOf = compileSchema({
      additionalProperties: { items: { type: 'string' } },
      propertyNames: { maxLength: 10 },
    });
    const value = { ['k'.repeat(100_000)]: Array.from({ length: 100_000 }, (_, i) => i) };
    const problems = problemsOf(value);
    expect(problems).toHaveLength(10);
    expect(problems.join(' ').length).toBeLessThan(4_000);
  });
});
