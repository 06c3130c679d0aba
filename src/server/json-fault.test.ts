import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseJson } from '../json.ts';
import { jsonFault } from './json-fault.ts';

it.each([
  ['{"a": nope}', 'expected value at line 1, column 7'],
  ['{"a": 1,}', 'expected key at line 1, column 9'],
  ['{a: 1}', 'expected key or } at line 1, column 2'],
  ['[1, 2', 'expected , or ] at line 1, column 6, where the body ends'],
  ['[]]', 'expected the end at line 1, column 3'],
  ['{\n  "a": 1\n  "b": 2\n}', 'expected , or } at line 3, column 3'],
  ['{"a" 1}', 'expected : at line 1, column 6'],
  ['{"a": "\n"}', 'expected value at line 1, column 7'],
  ["{'a': 1}", 'expected key or } at line 1, column 2'],
  ['[01]', 'expected , or ] at line 1, column 3'],
  ['["\\x"]', 'expected value or ] at line 1, column 2'],
  ['', 'expected value at line 1, column 1, where the body ends'],
])('%s', (text, fault) => {
  expect(jsonFault(text)).toBe(fault);
});

it('names the place where a text stops being JSON, and quotes none of it', () => {
  const changed = fc.tuple(
    fc.json(),
    fc.nat(),
    fc.constantFrom('', '"', ',', '{', 'é', ':', '\\', '0'),
  );
  fc.assert(
    fc.property(changed, ([json, place, put]) => {
      const at = place % json.length;
      const text = json.slice(0, at) + put + json.slice(at + 1);
      if (parseJson(text).ok) return;
      expect(jsonFault(text)).toMatch(
        /^expected [^"]+ at line \d+, column \d+(, where the body ends)?$/,
      );
    }),
  );
});

it('a long string is no burden', () => {
  expect(jsonFault(`{"a": "${'\\n'.repeat(300_000)}" x`)).toContain('expected , or }');
});
