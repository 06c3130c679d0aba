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
  ['unseen in a name', call({ 'a\u202e': 1 }), String.raw`a\u202e: 1`],
  ['a name that looks like it', call({ 'a\\u202e': 1 }), String.raw`a\\u202e: 1`],
  ['unseen in a text', call({ a: 'b\u0007c' }), String.raw`a: b\u0007c`],
  ['unseen inside', call({ a: ['b\u200bc'] }), String.raw`a: ["b\u200bc"]`],
  ['a cut', call({ summary: '{"a', ref: 'r' }, '{"a\u202e'), String.raw`{"a\u202e`],
  ['a summary that is whole', call('', '{"a":"b\u202e"}'), String.raw`a: b\u202e`],
])('arguments in a line: %s', (_name, one, expected) => {
  expect(argsText(one)).toBe(expected);
});
