import { describe, expect, it } from 'vitest';
import { MOST_LEVELS } from '../json.ts';
import { boundedText, isBounded, jsonIn, MOST_CHARS } from './bounded.ts';

function nested(levels: number, around: (inner: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = around(value);
  return value;
}
const list = (inner: unknown): unknown => [inner];
const record = (inner: unknown): unknown => ({ a: inner });
const many = (count: number): readonly number[] => Array.from({ length: count }, () => 0);
const half = 'x'.repeat(MOST_CHARS / 2);

describe('a value that a screen lays out', () => {
  it.each<[string, unknown, boolean]>([
    ['as deep as a list may be', nested(MOST_LEVELS, list), true],
    ['a list of one level more', nested(MOST_LEVELS + 1, list), false],
    ['as deep as an object may be', nested(MOST_LEVELS, record), true],
    ['an object of one level more', nested(MOST_LEVELS + 1, record), false],
    ['as many values as may be', many(50_000), true],
    ['one more', many(50_001), false],
    ['as many, over several lists', [many(20_000), many(29_998)], true],
    ['one more, over several lists', [many(20_000), many(29_999)], false],
    ['as many characters as may be', [half, { a: half.slice(1) }], true],
    ['one more', [half, { a: half }], false],
    ['names of as many characters', { [half]: half }, true],
    ['one more in names', { [`${half}x`]: half }, false],
    ['a function', { a: () => 1 }, false],
    ['a bigint', [1n], false],
  ])('%s: %#', (_name, value, isIt) => {
    expect(isBounded(value)).toBe(isIt);
  });
});

it('a text that is JSON is laid out only within the same bounds', () => {
  expect(jsonIn(' {"a":[1]}')).toEqual({ a: [1] });
  for (const text of ['1', '"a"', '{', JSON.stringify(nested(MOST_LEVELS + 1, list))])
    expect(jsonIn(text)).toBeNull();
  expect(jsonIn(`[${' '.repeat(MOST_CHARS - 2)}]`)).toEqual([]);
  expect(jsonIn(`[${' '.repeat(MOST_CHARS - 1)}]`)).toBeNull();
});

it('a text is cut between characters', () => {
  const most = 'x'.repeat(MOST_CHARS - 1);
  expect(boundedText(`${most}y`)).toBe(`${most}y`);
  expect(boundedText(`${most}yz`)).toBe(`${most}y…`);
  expect(boundedText(`${most}😀`)).toBe(`${most}…`);
});
