import { describe, expect, it } from 'vitest';
import { addCost, addUsage, costOf, minusUsage, usageOf, zeroUsage } from './usage.ts';

describe('usageOf', () => {
  it.each<[string, object | null, object]>([
    ['nothing', null, { input: 0, output: 0, total: 0 }],
    ['a missing total', { input: 3, output: 4 }, { input: 3, output: 4, total: 7 }],
    ['a reported total', { input: 3, output: 4, total: 9 }, { total: 9 }],
    ['invalid numbers', { input: '3', output: Number.NaN, total: -1 }, { ...zeroUsage }],
    [
      'cache writes',
      { input: 9, cacheWrite: 8, cacheWrite1h: 2 },
      { cacheWrite: 8, cacheWrite1h: 2 },
    ],
    ['details', { input: 9, cachedInput: 8, reasoning: 2 }, { cachedInput: 8, reasoning: 2 }],
  ])('reads %s', (_case, report, expected) => {
    expect(usageOf(report)).toMatchObject(expected);
  });
});

describe('costOf', () => {
  it.each<[unknown, number | null]>([
    [0.25, 0.25],
    [0, 0],
    [null, null],
    [undefined, null],
    ['0.25', null],
    [Number.NaN, null],
    [-1, null],
  ])('%s is %s', (reported, cost) => {
    expect(costOf(reported)).toBe(cost);
  });
});

describe('sums', () => {
  const a = { input: 1, output: 2, total: 3, cachedInput: 4, reasoning: 5 };
  const b = { input: 10, output: 20, total: 30, cachedInput: 40, reasoning: 50 };

  it('adds and subtracts field by field', () => {
    const sum = { input: 11, output: 22, total: 33, cachedInput: 44, reasoning: 55 };
    expect(addUsage(a, b)).toEqual(sum);
    expect(minusUsage(sum, b)).toEqual(a);
    expect(addUsage(a, zeroUsage)).toBe(a);
  });

  it('D83: counts cache writes, and leaves the fields out where nothing was written', () => {
    const written = { ...a, cacheWrite: 6, cacheWrite1h: 2 };
    expect(addUsage(written, b)).toMatchObject({ cacheWrite: 6, cacheWrite1h: 2 });
    expect(addUsage(b, written)).toEqual(addUsage(written, b));
    expect(addUsage(written, written)).toMatchObject({ cacheWrite: 12, cacheWrite1h: 4 });
    expect(minusUsage(addUsage(written, b), b)).toEqual(written);
    expect(minusUsage(addUsage(a, written), written)).toEqual(a);
    expect(Object.keys(addUsage(a, b))).not.toContain('cacheWrite');
    expect(Object.keys(usageOf({ input: 1, cacheWrite: 0 }))).not.toContain('cacheWrite');
  });

  it.each<[number | null, number | null, number | null, string]>([
    [0, 0.5, 0.5, 'a first price'],
    [0.5, 0.25, 0.75, 'a second price'],
    [0, null, null, 'no price so far'],
    [0.5, null, 0.5, 'the known part is kept'],
    [null, 0.5, 0.5, 'a later price'],
  ])('cost %s and %s is %s: %s', (total, step, sum) => {
    expect(addCost(total, step)).toBe(sum);
  });
});
