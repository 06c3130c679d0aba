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

it('names the position where a text stops being JSON, without quoting it', () => {
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

it.each([
  ['that is complete', `{"a": "${'\\n'.repeat(300_000)}" x`, 'expected , or }'],
  ['without an end', `{"a": "${'a'.repeat(500_000)}`, 'expected value at line 1, column 7'],
  ['without an end, of escapes', `{"a": "${'\\n'.repeat(300_000)}`, 'expected value'],
  ['with a line break', `{"a": "${'a'.repeat(500_000)}\n"}`, 'expected value'],
  ['of blanks', `{"a":${' '.repeat(500_000)}x`, 'expected value'],
  ['of digits', `[${'1'.repeat(500_000)}x`, 'expected , or ]'],
])('reads a long text %s quickly', (_what, text, fault) => {
  expect(jsonFault(text)).toContain(fault);
});
