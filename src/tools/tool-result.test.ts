import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../json.ts';
import { recordedValue, resultText } from './tool-result.ts';

describe('recordedValue', () => {
  it.each<[string, unknown, JsonValue]>([
    ['text', 'hello', 'hello'],
    ['nothing', undefined, null],
    ['null', null, null],
    ['a number', 42, 42],
    ['a number that JSON lacks', Number.NaN, null],
    ['false', false, false],
    ['a date', new Date('2026-01-16T12:00:00Z'), '2026-01-16T12:00:00.000Z'],
    ['a function', () => 1, null],
    ['an object with gaps', { a: undefined, b: 1 }, { b: 1 }],
    ['a list with gaps', [undefined, 1], [null, 1]],
    ['a value with its own JSON', { toJSON: () => ({ id: 7 }) }, { id: 7 }],
  ])('stores %s like JSON', (_case, returned, value) => {
    expect(recordedValue(returned, 100)).toEqual({ value, cut: false });
  });

  it.each<[string, () => unknown]>([
    [
      'a cycle',
      () => {
        const loop: Record<string, unknown> = {};
        loop['self'] = loop;
        return loop;
      },
    ],
    ['a bigint', () => ({ id: 10n })],
  ])('throws on %s, which the loop turns into the result of the call', (_case, make) => {
    expect(() => recordedValue(make(), 100)).toThrow(TypeError);
  });

  it('detaches from the original', () => {
    const original = { list: [1] };
    const { value } = recordedValue(original, 100);
    original.list.push(2);
    expect(value).toEqual({ list: [1] });
  });

  it('truncates a long result, and notes how much is shown', () => {
    expect(recordedValue('abcdefghij', 4)).toEqual({
      value: 'abcd… [cut: 4 of 10 characters shown]',
      cut: true,
    });
    expect(recordedValue('abcd', 4)).toEqual({ value: 'abcd', cut: false });
    expect(recordedValue({ a: 'xyz' }, 6)).toEqual({
      value: '{"a":"… [cut: 6 of 11 characters shown]',
      cut: true,
    });
  });

  it('never splits a character', () => {
    expect(recordedValue('ab😀cd', 3).value).toBe('ab… [cut: 2 of 6 characters shown]');
    expect(recordedValue('ab😀cd', 4).value).toBe('ab😀… [cut: 4 of 6 characters shown]');
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 20 }),
        (text, max) => !/\p{Surrogate}/u.test(resultText(recordedValue(text, max).value)),
      ),
    );
  });
});

describe('resultText', () => {
  it.each<[JsonValue, string]>([
    ['plain', 'plain'],
    [{ a: 1 }, '{"a":1}'],
    [null, 'null'],
    [7, '7'],
  ])('%j has the text %s', (value, text) => {
    expect(resultText(value)).toBe(text);
  });
});
