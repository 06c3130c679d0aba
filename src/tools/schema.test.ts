import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { AgentError } from '../errors/agent-error.ts';
import { readySchema, type AnySchema, type StandardSchema } from './schema.ts';

const zodLead = z.object({ name: z.string(), score: z.number().int().default(1) });
const valibotLead = toStandardJsonSchema(
  v.object({ name: v.string(), score: v.optional(v.pipe(v.number(), v.integer()), 1) }),
);
const jsonLead = {
  type: 'object',
  properties: { name: { type: 'string' }, score: { type: 'integer', default: 1 } },
  required: ['name'],
  additionalProperties: false,
};

/** A schema with only `validate`, which is all that Standard Schema requires. */
const standard = (
  validate: (value: unknown) => unknown,
  more: Partial<StandardSchema['~standard']> = {},
): StandardSchema => ({
  '~standard': { vendor: 'own', validate: validate as never, ...more },
});

describe('readySchema', () => {
  it.each<[string, AnySchema]>([
    ['zod', zodLead],
    ['valibot', valibotLead],
    ['JSON Schema', jsonLead],
  ])('%s gives the model a JSON Schema without dialect', (_library, schema) => {
    const { jsonSchema } = readySchema('Tool "lead"', schema);
    expect(jsonSchema).toMatchObject({
      type: 'object',
      properties: { name: { type: 'string' }, score: { type: 'integer', default: 1 } },
      required: ['name'],
    });
    expect(jsonSchema).not.toHaveProperty('$schema');
    expect(JSON.parse(JSON.stringify(jsonSchema))).toEqual(jsonSchema);
  });

  it.each<[string, AnySchema]>([
    ['zod', zodLead],
    ['valibot', valibotLead],
  ])('%s returns the parsed value with defaults', async (_library, schema) => {
    const { check } = readySchema('Tool "lead"', schema);
    expect(await check({ name: 'Mira' })).toEqual({ ok: true, value: { name: 'Mira', score: 1 } });
  });

  it('JSON Schema returns the value unchanged', async () => {
    const value = { name: 'Mira' };
    const checked = await readySchema('Tool "lead"', jsonLead).check(value);
    expect(checked).toEqual({ ok: true, value: { name: 'Mira' } });
  });

  it.each<[string, AnySchema, RegExp]>([
    ['zod', zodLead, /^name: .*expected string/],
    ['valibot', valibotLead, /^name: .*Expected string/],
    ['JSON Schema', jsonLead, /^name: .*type "number" is invalid.*"string"/],
  ])('%s reports the path of a wrong value', async (_library, schema, message) => {
    const checked = await readySchema('Tool "lead"', schema).check({ name: 5 });
    expect(checked).toEqual({ ok: false, message: expect.stringMatching(message) });
  });

  it.each<[string, AnySchema, unknown, RegExp]>([
    ['a missing field', jsonLead, {}, /"name"/],
    ['an additional field', jsonLead, { name: 'a', color: 'red' }, /color/],
    ['a list instead of an object', jsonLead, [], /"array" is invalid.*"object"/],
    [
      'a nested field',
      { type: 'object', properties: { a: { type: 'array', items: { type: 'number' } } } },
      { a: [1, 'two'] },
      /a\.1: .*"string" is invalid.*"number"/,
    ],
    [
      'a nested field (zod)',
      z.object({ a: z.array(z.number()) }),
      { a: [1, 'two'] },
      /^a\.1: .*expected number/,
    ],
    [
      'several at once (zod)',
      z.object({ a: z.number(), b: z.number() }),
      {},
      /^a: .*expected number.*; b: .*expected number/,
    ],
  ])('names %s', async (_case, schema, value, message) => {
    const checked = await readySchema('Tool "lead"', schema).check(value);
    expect(checked).toEqual({ ok: false, message: expect.stringMatching(message) });
  });

  it('waits for schemas that check asynchronously', async () => {
    const taken = z.string().refine(async (name) => {
      await Promise.resolve();
      return name !== 'mira';
    }, 'is taken');
    const { check } = readySchema('Tool "lead"', z.object({ name: taken }));
    expect(await check({ name: 'mira' })).toEqual({ ok: false, message: 'name: is taken' });
    expect(await check({ name: 'jon' })).toEqual({ ok: true, value: { name: 'jon' } });
  });

  it('treats any thenable as an asynchronous result, so that none passes unchecked', async () => {
    const lazy = standard(() => ({
      // oxlint-disable-next-line unicorn/no-thenable -- a promise of another realm
      then: (resolve: (result: unknown) => void) => resolve({ issues: [{ message: 'no' }] }),
    }));
    const { check } = readySchema('Tool "lead"', lazy, { type: 'object' });
    expect(await check({})).toEqual({ ok: false, message: 'no' });
  });

  it('reads both forms of an issue path', async () => {
    const issues = [
      { message: 'is wrong', path: ['a', { key: 'b' }, 0] },
      { message: 'is bad', path: [] },
    ];
    const { check } = readySchema(
      'Tool "lead"',
      standard(() => ({ issues })),
      { type: 'object' },
    );
    expect(await check({})).toEqual({ ok: false, message: 'a.b.0: is wrong; is bad' });
  });

  it('reads the JSON form from arktype-like schemas and from the caller', () => {
    const typed = Object.assign(
      standard((value) => ({ value })),
      { toJsonSchema: () => ({ $schema: 'x', type: 'object', title: 'typed' }) },
    );
    expect(readySchema('Tool "lead"', typed).jsonSchema).toEqual({
      type: 'object',
      title: 'typed',
    });
    const given = { type: 'object', title: 'given' };
    expect(readySchema('Tool "lead"', typed, given).jsonSchema).toBe(given);
  });

  it.each<[string, unknown, RegExp]>([
    ['another value', 'string', /^Tool "lead" got "string", expected a Standard Schema/],
    ['a list', [], /^Tool "lead" got an array of 0, expected a Standard Schema/],
    [
      'a schema without JSON form',
      v.object({ name: v.string() }),
      /^Tool "lead" has a valibot schema.*toStandardJsonSchema.*`jsonSchema`/,
    ],
    [
      'a schema with a JSON form that throws',
      z.object({ at: z.date() }),
      /^Tool "lead" has a schema without a JSON form/,
    ],
  ])('rejects %s with a remedy', (_case, schema, message) => {
    let thrown: unknown;
    try {
      readySchema('Tool "lead"', schema as AnySchema);
    } catch (error) {
      thrown = error;
    }
    expect(AgentError.is(thrown, 'invalid_option')).toBe(true);
    expect((thrown as Error).message).toMatch(message);
  });
});

describe('a JSON Schema with formats or patterns that are not plain', () => {
  const schemas = [
    [{ type: 'string', format: 'date' }, '2026-02-28', '2026-02-30'],
    [{ type: 'string', pattern: '(a|aa)+$' }, 'aaa', 'aab'],
    [{ patternProperties: { 'x.*y$': { type: 'number' } } }, { xay: 1 }, { xay: '1' }],
  ] as const;

  it.each(schemas)(
    '%j: the first check loads the rules, later ones are synchronous',
    async (schema, good, bad) => {
      const { check } = readySchema('Tool "lead"', schema);
      const [first, second] = [check(bad), check(good)];
      expect(first).toBeInstanceOf(Promise);
      expect(await first).toMatchObject({ ok: false });
      expect(await second).toEqual({ ok: true, value: good });
      expect(check(good)).toEqual({ ok: true, value: good });
      expect(check(bad)).toMatchObject({ ok: false });
    },
  );

  it('is checked synchronously if its pattern is plain', () => {
    const { check } = readySchema('Tool "lead"', { type: 'string', pattern: '^[a-z]+$' });
    expect(check('a')).toEqual({ ok: true, value: 'a' });
    expect(check('1')).toMatchObject({ ok: false });
  });

  it('is rejected immediately if it cannot be checked', () => {
    expect(() => readySchema('Tool "lead"', { format: 'date', pattern: '(a)\\1' })).toThrow(
      /cannot be checked: pattern .* it refers back with/,
    );
  });
});
