import { expect, it } from 'vitest';
import type { InferenceResponse } from '../inference-driver.ts';
import { responsesFormat } from './responses-stream.ts';

type Json = Record<string, unknown>;

const read = (...events: readonly Json[]): InferenceResponse => {
  const stream = responsesFormat('gpt-5', 'account').stream('https://api.openai.com/v1');
  for (const event of events) stream.read(event);
  return stream.response();
};
const added = (item: Json, more: Json = {}): Json => ({
  type: 'response.output_item.added',
  item,
  ...more,
});
const call = (name: string): Json => ({
  type: 'function_call',
  call_id: name,
  name,
  arguments: '',
});
const args = (delta: string, more: Json = {}): Json => ({
  type: 'response.function_call_arguments.delta',
  delta,
  ...more,
});
const completed: Json = { type: 'response.completed', response: { status: 'completed' } };
const callsOf = ({ toolCalls }: InferenceResponse): unknown[] =>
  toolCalls.map(({ name, args: value }) => [name, value]);

it('keeps every item of a server that numbers only some of them', () => {
  const answer = read(
    added(call('a'), { output_index: 1 }),
    args('{"n":1}', { output_index: 1 }),
    added(call('b')),
    args('{"n":2}'),
    added(call('c')),
    args('{"n":3}'),
    completed,
  );
  expect(callsOf(answer)).toEqual([
    ['a', { n: 1 }],
    ['b', { n: 2 }],
    ['c', { n: 3 }],
  ]);
});

it.each<[string, unknown]>([
  ['a text', '__proto__'],
  ['negative', -1],
  ['too large', Number.MAX_VALUE],
  ['no number', Number.NaN],
])('reads items whose index is %s', (_what, output_index) => {
  const answer = read(added(call('a'), { output_index }), args('{}', { output_index }), completed);
  expect(callsOf(answer)).toEqual([['a', {}]]);
});

it.each<[string, Json]>([
  ['no item', { type: 'response.output_item.added', output_index: 0 }],
  ['an item without a type', added({}, { output_index: 0 })],
  ['a delta that is no text', { type: 'response.output_text.delta', delta: { a: 1 } }],
  ['an unknown event', { type: 'response.new_thing', delta: 'x' }],
  ['no type', { delta: 'x' }],
])('ignores an event with %s', (_what, event) => {
  const text = { type: 'response.output_text.delta', output_index: 3, delta: 'Hi' };
  expect(read(event, text, completed)).toMatchObject({ content: 'Hi', toolCalls: [] });
});

it('streams the input of a custom tool as it comes, also if no event repeats it', () => {
  const stream = responsesFormat('gpt-5', 'account').stream('https://api.openai.com/v1');
  const custom = { type: 'custom_tool_call', call_id: 'c', name: 'sql', input: '' };
  const input = (delta: string): Json => ({
    type: 'response.custom_tool_call_input.delta',
    output_index: 0,
    delta,
  });
  const events = [added(custom, { output_index: 0 }), input('select '), input('1'), completed];
  const pieces = events
    .flatMap((event) => stream.read(event))
    .flatMap((chunk) => (chunk.type === 'tool_call' ? [chunk.argsDelta] : []));
  expect(pieces).toEqual(['', 'select ', '1']);
  expect(callsOf(stream.response())).toEqual([['sql', { input: 'select 1' }]]);
});
