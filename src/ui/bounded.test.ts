import { describe, expect, it } from 'vitest';
import { MOST_LEVELS } from '../json.ts';
import { boundedText, isBounded, jsonIn, MAX_CHARS } from './bounded.ts';

function nested(levels: number, around: (inner: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = around(value);
  return value;
}
const list = (inner: unknown): unknown => [inner];
const record = (inner: unknown): unknown => ({ a: inner });
const many = (count: number): readonly number[] => Array.from({ length: count }, () => 0);
const half = 'x'.repeat(MAX_CHARS / 2);

describe('a value that the view can show', () => {
  it.each<[string, unknown, boolean]>([
    ['a list of the maximum depth', nested(MOST_LEVELS, list), true],
    ['a list one level deeper', nested(MOST_LEVELS + 1, list), false],
    ['an object of the maximum depth', nested(MOST_LEVELS, record), true],
    ['an object one level deeper', nested(MOST_LEVELS + 1, record), false],
    ['the maximum number of values', many(50_000), true],
    ['one more', many(50_001), false],
    ['the maximum over several lists', [many(20_000), many(29_998)], true],
    ['one more, over several lists', [many(20_000), many(29_999)], false],
    ['the maximum number of characters', [half, { a: half.slice(1) }], true],
    ['one more', [half, { a: half }], false],
    ['names of the maximum length', { [half]: half }, true],
    ['one more in names', { [`${half}x`]: half }, false],
    ['a function', { a: () => 1 }, false],
    ['a bigint', [1n], false],
  ])('%s: %#', (_name, value, isIt) => {
    expect(isBounded(value)).toBe(isIt);
  });
});

it('JSON in a text has the same limits', () => {
  expect(jsonIn(' {"a":[1]}')).toEqual({ a: [1] });
  for (const text of ['1', '"a"', '{', JSON.stringify(nested(MOST_LEVELS + 1, list))])
    expect(jsonIn(text)).toBeNull();
  expect(jsonIn(`[${' '.repeat(MAX_CHARS - 2)}]`)).toEqual([]);
  expect(jsonIn(`[${' '.repeat(MAX_CHARS - 1)}]`)).toBeNull();
});

it('truncates a text between characters', () => {
  const most = 'x'.repeat(MAX_CHARS - 1);
  expect(boundedText(`${most}y`)).toBe(`${most}y`);
  expect(boundedText(`${most}yz`)).toBe(`${most}y…`);
  expect(boundedText(`${most}😀`)).toBe(`${most}…`);
});
