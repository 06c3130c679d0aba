import { expect, it } from 'vitest';
import { jsonLine } from './json-line.ts';

it.each([
  ['an escape', '\u001b', '\\u001b'],
  ['a bell', '\u0007', '\\u0007'],
  ['delete', '\u007f', '\\u007f'],
  ['an escape of one C1 character', '\u009b31m', '\\u009b31m'],
  ['a next line', '\u0085', '\\u0085'],
  ['a line separator', '\u2028', '\\u2028'],
  ['an override of the direction', '\u202e', '\\u202e'],
  ['an isolate', '\u2066', '\\u2066'],
  ['a line break', 'a\nb', 'a\\nb'],
  ['other characters', 'Grüße 😀', 'Grüße 😀'],
])('%s is one printable line that parses to the same value', (_name, text, shown) => {
  const line = jsonLine({ [text]: [text] });
  expect(line).toBe(`{"${shown}":["${shown}"]}\n`);
  expect(JSON.parse(line)).toEqual({ [text]: [text] });
});
