import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parsePartialJson } from '../json.ts';
import { partialCheck } from './partial-schema.ts';
import { readySchema } from './schema.ts';

const Shape = z.object({
  kind: z.enum(['circle', 'square']),
  size: z.number().min(10).multipleOf(5),
  tags: z.array(z.string().min(3)).min(2),
  inner: z.discriminatedUnion('is', [
    z.object({ is: z.literal('a'), n: z.number() }),
    z.object({ is: z.literal('b'), t: z.iso.date() }),
  ]),
});
const { jsonSchema } = readySchema('test', Shape);
const fits = (text: string): boolean => partialCheck(jsonSchema)(parsePartialJson(text));

describe('partialCheck', () => {
  const whole =
    '{"kind":"circle","size":125,"tags":["one","three"],"inner":{"is":"b","t":"2026-01-16"}}';

  it('passes a valid answer truncated anywhere, except inside a value of an enum', () => {
    const refused = Array.from(whole, (_, i) => whole.slice(0, i + 1))
      .filter((text) => parsePartialJson(text) !== undefined && !fits(text))
      .map((text) => JSON.stringify(parsePartialJson(text)));
    expect(refused).toEqual([
      ...['', 'c', 'ci', 'cir', 'circ', 'circl'].map((kind) => JSON.stringify({ kind })),
      '{"kind":"circle","size":125,"tags":["one","three"],"inner":{"is":""}}',
    ]);
    expect(fits(whole)).toBe(true);
  });

  it.each([
    ['a wrong type', '{"size":"large"'],
    ['a value that is not in the enum', '{"kind":"triangle","si'],
    ['a wrong part of a list', '{"tags":["one",2'],
    ['a wrong alternative', '{"inner":{"is":"c"'],
    ['a list instead of an object', '[1'],
  ])('rejects %s', (_what, text) => {
    expect(fits(text)).toBe(false);
  });

  it('accepts properties and data that are named like keywords', () => {
    const check = partialCheck({
      type: 'object',
      properties: { required: { enum: [{ required: 1 }] }, not: { type: 'number' } },
      additionalProperties: false,
    });
    expect(check({ required: { required: 1 }, not: 2 })).toBe(true);
    expect(check({ not: 'x' })).toBe(false);
    expect(check({ pattern: 1 })).toBe(false);
  });
});
