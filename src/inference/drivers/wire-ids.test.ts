import { expect, it } from 'vitest';
import { acceptedIds, wireIds, wireName } from './wire-ids.ts';

const call = (id: string, providerId?: string) => ({
  id,
  name: 'x',
  args: {},
  ...(providerId !== undefined && { providerId }),
});
const sent = (provider: string, model: string, ...calls: ReturnType<typeof call>[]): string[] => [
  ...wireIds(calls, acceptedIds(provider, model)).values(),
];

it.each<[string, string, string, string]>([
  ['a server of Chat Completions', '', 'kimi-k2', 'functions.pay:0'],
  ['Gemini', 'google.generative-ai', 'gemini-3-pro', 'functions.pay:0'],
  ['OpenAI, chat', 'openai.chat', 'gpt-5', 'functions.pay:0'],
  ['OpenAI, Responses', 'azure-openai.responses', 'gpt-5', 'functions.pay:0'],
  ['Claude', 'anthropic.messages', 'claude-sonnet-4-5', 'call_1'],
  ['Claude at Bedrock', 'amazon-bedrock', 'anthropic.claude-sonnet-4-5-v1:0', 'call_1'],
  ['Claude at Vertex', 'vertex.anthropic.messages', 'claude-sonnet-4-5', 'call_1'],
  ['Claude behind another server', '', 'anthropic/claude-sonnet-4.5', 'call_1'],
])("%s gets the provider's own id where it accepts it, else ours", (_who, provider, model, id) => {
  expect(sent(provider, model, call('call_1', 'functions.pay:0'))).toEqual([id]);
});

it.each([
  ['mistral.chat', 'mistral-large-latest'],
  ['mistral', 'codestral-latest'],
  ['', 'mistralai/devstral-small'],
])('%s with %s gets ids of nine characters, its own unchanged', (provider, model) => {
  const ids = sent(provider, model, call('call_1', 'aB3xK9mP2'), call('call_2'), call('call_3'));
  expect(ids[0]).toBe('aB3xK9mP2');
  expect(ids.every((id) => /^[A-Za-z0-9]{9}$/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(3);
  expect(sent(provider, model, call('call_2'))).toEqual([ids[1]]);
});

it.each([
  ['openai.chat', 40],
  ['openai.responses', 64],
  ['anthropic.messages', 64],
])('%s gets no id that is longer than %i characters', (provider, most) => {
  const long = 'a'.repeat(most + 1);
  const [kept, other] = sent(provider, '', call('call_1', 'b'.repeat(most)), call(long));
  expect(kept).toBe('b'.repeat(most));
  expect(other).toMatch(/^call_[0-9a-f]{24}$/);
});

it('an id that the provider used twice is sent once', () => {
  expect(sent('', '', call('call_1', 'same'), call('call_2', 'same'))).toEqual(['same', 'call_2']);
});

it.each([
  ['look_up-1', 'look_up-1'],
  ['a b/c', 'a_b_c'],
  ['', '_'],
  ['x'.repeat(100), 'x'.repeat(64)],
])('the name %j is sent as %j', (name, wire) => {
  expect(wireName(name)).toBe(wire);
});
