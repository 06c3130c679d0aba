import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inputFieldsOf, readInputField, type FieldDraft } from './input-fields.ts';

const object = (properties: object, required: readonly string[] = []): unknown => ({
  type: 'object',
  properties,
  required,
});
const fieldOf = (schema: object, isRequired = false) =>
  inputFieldsOf(object({ a: schema }, isRequired ? ['a'] : []))?.[0];
const read = (schema: object, draft: FieldDraft, isRequired = false) =>
  readInputField(fieldOf(schema, isRequired)!, draft);

describe('the fields of a form', () => {
  it.each([
    ['text', { type: 'string' }],
    ['number', { type: 'number' }],
    ['integer', { type: 'integer' }],
    ['boolean', { type: 'boolean' }],
    ['choice', { type: 'string', enum: ['x', 'y'] }],
    ['choice', { type: 'string', oneOf: [{ const: 'x', title: 'X' }] }],
    ['choices', { type: 'array', items: { type: 'string', enum: ['x'] } }],
    ['choices', { type: 'array', items: { anyOf: [{ const: 'x', title: 'X' }] } }],
  ])('%s: %j', (kind, schema) => {
    expect(fieldOf(schema)?.kind).toBe(kind);
  });

  it.each([
    ['no schema', undefined],
    ['a truncated value', { cut: true, ref: 'r' }],
    ['an array', { type: 'array' }],
    ['a nested object', object({ a: { type: 'object' } })],
    ['an array of objects', object({ a: { type: 'array', items: { type: 'object' } } })],
    ['a union of types', object({ a: { type: ['string', 'null'] } })],
    ['a reference', object({ a: { type: 'string', $ref: '#/x' } })],
    ['a combination', { type: 'object', properties: {}, anyOf: [] }],
    ['a required property without a schema', object({}, ['a'])],
    [
      '41 fields',
      object(Object.fromEntries(Array.from({ length: 41 }, (_, i) => [i, { type: 'string' }]))),
    ],
  ])('needs JSON for %s', (_name, schema) => {
    expect(inputFieldsOf(schema)).toBeNull();
  });

  it('reads a property named __proto__ as any other, and no inherited one', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string","title":"P"}},"required":["__proto__"]}',
    ) as unknown;
    expect(inputFieldsOf(schema)).toMatchObject([
      { name: '__proto__', title: 'P', isRequired: true },
    ]);
    expect(inputFieldsOf({ type: 'object', required: ['toString'] })).toBeNull();
  });

  it('shortens titles, and offers at most 200 choices', () => {
    expect(fieldOf({ type: 'string', title: 'x'.repeat(5_000) })?.title).toHaveLength(200);
    const values = Array.from({ length: 201 }, (_, i) => String(i));
    expect(fieldOf({ type: 'string', enum: values })).toMatchObject({ kind: 'text', choices: [] });
  });

  it.each([
    [{ type: 'string' }, '', true, { kind: 'missing' }],
    [{ type: 'string', minLength: 3 }, 'ab', false, { kind: 'short', limit: 3 }],
    [{ type: 'string', maxLength: 1 }, '👍👍', false, { kind: 'long', limit: 1 }],
    [{ type: 'string', format: 'email' }, 'ann', false, { kind: 'format', format: 'email' }],
    [{ type: 'string', format: 'date' }, '2026-13-40', false, { kind: 'format', format: 'date' }],
    [{ type: 'number' }, 'x', false, { kind: 'number' }],
    [{ type: 'number' }, ' ', true, { kind: 'missing' }],
    [{ type: 'integer' }, '1.5', false, { kind: 'integer' }],
    [{ type: 'integer', minimum: 2 }, '1', false, { kind: 'small', limit: 2 }],
    [{ type: 'integer', maximum: 2 }, '3', false, { kind: 'large', limit: 2 }],
    [{ type: 'array', minItems: 1, items: { enum: ['x'] } }, [], true, { kind: 'few', limit: 1 }],
  ] as const)('%j refuses %j', (schema, draft, isRequired, problem) => {
    expect(read(schema, draft, isRequired)).toEqual({ ok: false, problem });
  });

  it('leaves empty optional fields out, and starts with defaults', () => {
    expect(read({ type: 'string' }, '')).toEqual({ ok: true, value: undefined });
    expect(read({ type: 'boolean' }, 'false')).toEqual({ ok: true, value: false });
    expect(read({ type: 'string', maxLength: 1 }, '👍')).toEqual({ ok: true, value: '👍' });
    expect(fieldOf({ type: 'boolean', default: true })?.initial).toBe('true');
    expect(fieldOf({ type: 'string', enum: ['x'], default: 'z' })?.initial).toBe('');
  });

  it('reads any schema without throwing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (root, property) => {
        inputFieldsOf(root);
        for (const field of inputFieldsOf(object({ a: property as object })) ?? [])
          readInputField(field, field.initial);
      }),
    );
  });
});
