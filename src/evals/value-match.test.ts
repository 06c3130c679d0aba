import { describe, expect, it } from 'vitest';
import { expectedText, matchesValue } from './value-match.ts';

describe('matchesValue', () => {
  it.each<[unknown, unknown, boolean, string]>([
    [{ a: 1 }, { a: 1, b: 2 }, true, 'other keys do not matter'],
    [{ a: 1 }, { a: 2 }, false, 'another value'],
    [{ a: undefined }, { b: 1 }, true, 'an absent key is expected'],
    [{ a: undefined }, { a: null }, false, 'null is present'],
    [{ toString: 1 }, {}, false, 'inherited properties are no keys'],
    [[1, 2], [1, 2, 3], false, 'lists have the same length'],
    [[{ a: /x/ }], [{ a: 'axb', c: 1 }], true, 'at any depth'],
    [/x/g, 'x', true, 'a flag g keeps no position'],
    [/x/, 5, false, 'only texts match an expression'],
    [(value: unknown) => value === 5, 5, true, 'a function decides'],
    [() => 'yes', 5, false, 'only true is true'],
    [expect.stringContaining('b'), 'abc', true, 'a matcher of the test library'],
    [expect.any(Number), 'abc', false, 'a matcher that refuses'],
    [null, undefined, false, 'null is not undefined'],
    [{}, [], false, 'a list is no object'],
  ])('%j and %j -> %s (%s)', (expected, value, result) => {
    expect(matchesValue(expected, value)).toBe(result);
    expect(matchesValue(expected, value)).toBe(result);
  });
});

describe('expectedText', () => {
  it.each([
    [
      { a: /x/i, b: [expect.any(Number)], c: () => true },
      '{"a":"/x/i","b":["Any<Number>"],"c":"(function)"}',
    ],
    [/a"b/, '/a"b/'],
    [undefined, 'undefined'],
  ])('%j', (expected, text) => {
    expect(expectedText(expected)).toBe(text);
  });
});
