import { createAnthropic } from '@ai-sdk/anthropic';
import { AgentBuilder, AgentState, type ModelInput } from 'onward';
import { openai } from 'onward/drivers/openai';
import { describe, expect, it } from 'vitest';
import { reader } from './setup/fallback.ts';
import { json, serve, type Reply } from './setup/loopback.ts';
import type { Json } from './setup/wire.ts';

const summary = 'The user asked for many things, which were done.';
const events =
  (...all: readonly Json[]): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  };

const head = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  model: 'claude',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
};
const compaction = { type: 'compaction', content: summary };
const said = { type: 'text', text: 'Hello.' };
const claude = {
  whole: json({ ...head, content: [compaction, said], stop_reason: 'end_turn' }),
  streamed: events(
    { type: 'message_start', message: { ...head, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'compaction', content: null } },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'compaction_delta', content: summary.slice(0, 20) },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'compaction_delta', content: summary.slice(20) },
    },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hello.' } },
    { type: 'content_block_stop', index: 1 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 5 },
    },
    { type: 'message_stop' },
  ),
};

const item = { type: 'compaction', id: 'cmp_1', encrypted_content: `secret of ${summary}` };
const message = {
  type: 'message',
  id: 'msg_1',
  content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
};
const response = { id: 'resp_1', status: 'completed', output: [item, message] };
const responses = {
  whole: json(response),
  streamed: events(
    ...[item, message].flatMap((one, output_index) => [
      { type: 'response.output_item.added', output_index, item: one },
      { type: 'response.output_item.done', output_index, item: one },
    ]),
    { type: 'response.completed', response },
  ),
};

describe.each<
  [string, typeof claude, (baseURL: string) => ModelInput, (body: Json) => unknown, unknown]
>([
  [
    'Anthropic',
    claude,
    (baseURL) => createAnthropic({ apiKey: 'none', baseURL })('claude'),
    ({ messages }) => (messages as Json[]).find(({ role }) => role === 'assistant')?.['content'],
    [compaction, said],
  ],
  [
    'OpenAI Responses',
    responses,
    (baseURL) => openai('gpt-5', { apiKey: 'none', baseURL, api: 'responses' }),
    ({ input }) => (input as Json[]).filter(({ role }) => role !== 'user'),
    [item, { role: 'assistant', content: 'Hello.' }],
  ],
])('a compacted conversation in an answer of %s', (_name, replies, model, sentBack, expected) => {
  it.each(['whole', 'streamed'] as const)(
    'is not shown, %s, and goes back to its provider',
    async (how) => {
      const server = await serve(replies[how], replies[how]);
      const { wiretap, text, events: seen } = reader();
      const agent = AgentBuilder.base().withModel(model(server.url)).build();
      const options = how === 'streamed' ? { wiretap } : {};
      const state = await agent.run('go', options);
      expect(state.output).toBe('Hello.');
      expect(state.messages.last()?.text).toBe('Hello.');
      if (how === 'streamed') expect(text()).toBe('Hello.');
      expect(JSON.stringify(seen)).not.toContain('many things');
      const stored = AgentState.from(JSON.parse(JSON.stringify(state)));
      await agent.run(stored.withUserMessage('more'), options);
      expect(sentBack(server.requests[1]?.body ?? {})).toMatchObject(expected as object);
    },
  );
});
