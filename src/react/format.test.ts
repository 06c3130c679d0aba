import { expect, it } from 'vitest';
import type { UiToolCall } from '../ui/ui-message.ts';
import { argsText } from './format.ts';

const call = (args: UiToolCall['args'], args_summary: string = ''): UiToolCall => ({
  id: 'c',
  name: 't',
  args,
  args_summary,
});

it.each<[string, UiToolCall, string]>([
  ['names and values', call({ type: 'lead', n: 1 }), 'type: lead, n: 1'],
  ['invisible characters in a name', call({ 'a\u202e': 1 }), String.raw`a\u202e: 1`],
  ['a name that looks like an escape', call({ 'a\\u202e': 1 }), String.raw`a\\u202e: 1`],
  ['invisible characters in a text', call({ a: 'b\u0007c' }), String.raw`a: b\u0007c`],
  ['invisible characters inside a value', call({ a: ['b\u200bc'] }), String.raw`a: ["b\u200bc"]`],
  ['a truncated value', call({ summary: '{"a', ref: 'r' }, '{"a\u202e'), String.raw`{"a\u202e`],
  ['a whole summary', call('', '{"a":"b\u202e"}'), String.raw`a: b\u202e`],
])('arguments in a line: %s', (_name, one, expected) => {
  expect(argsText(one)).toBe(expected);
});
