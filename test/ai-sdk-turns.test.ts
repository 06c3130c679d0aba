import { createAnthropic } from '@ai-sdk/anthropic';
import { AgentBuilder, AgentState, Message } from 'onward';
import { aiSdk } from 'onward/drivers/ai-sdk';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { json, serve, type Reply } from './setup/loopback.ts';

const anthropicAt = (baseURL: string) => createAnthropic({ apiKey: 'none', baseURL })('claude');
const message = (stop_reason: string, ...content: readonly object[]): Reply =>
  json({
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    model: 'claude',
    content,
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  });
const search = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'a' } };
const found = {
  type: 'web_search_tool_result',
  tool_use_id: 'srv_1',
  content: [
    {
      type: 'web_search_result',
      url: 'https://a',
      title: 'A',
      encrypted_content: 'x',
      page_age: null,
    },
  ],
};

describe('Anthropic turns', () => {
  it('continue by themselves after pause_turn, with thinking and searches in their order', async () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'sig' };
    const server = await serve(
      message('pause_turn', thinking, search, found),
      message('end_turn', { type: 'text', text: 'Done.' }),
    );
    const providerTools = { web_search: { id: 'anthropic.web_search_20250305', args: {} } };
    const agent = AgentBuilder.base()
      .withModel(aiSdk(anthropicAt(server.url), { providerTools }))
      .build();
    const state = await agent.run('go');
    expect(state.output).toBe('Done.');
    expect(state.steps.at(0)?.finishReason).toBe('pause_turn');
    expect(server.requests[0]?.body['tools']).toMatchObject([{ name: 'web_search' }]);
    expect(server.requests[1]?.body['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [thinking, search, { type: 'web_search_tool_result' }] },
    ]);
    expect(state.messages.at(1)?.metadata['providerCalls']).toMatchObject([
      { id: 'srv_1', name: 'web_search', args: { query: 'a' } },
    ]);
  });

  it('are bounded by the step limit', async () => {
    const server = await serve(...Array.from({ length: 3 }, () => message('pause_turn', search)));
    const agent = AgentBuilder.base().withModel(anthropicAt(server.url)).withMaxSteps(2).build();
    const state = await agent.run('go');
    expect(state.stopReason).toBe('steps_limit');
    expect(server.requests).toHaveLength(2);
  });

  it('D87: never send blank text, alone or beside calls, and mark errors', async () => {
    const server = await serve(message('end_turn', { type: 'text', text: 'Done.' }));
    const calls = [{ id: 'call_1', name: 'lookup', args: {} }];
    const history = AgentState.empty().withMessages(
      Message.user('hi'),
      Message.assistant(' \n'),
      Message.user('go'),
      Message.assistant(' \n', { toolCalls: calls }),
      Message.tool('call_1', 'Error: no', { metadata: { toolResult: { kind: 'error' } } }),
    );
    const agent = AgentBuilder.base()
      .withModel(anthropicAt(server.url))
      .withTools(mockTool('lookup'))
      .build();
    await agent.run(history.withUserMessage('more'));
    const sent = server.requests[0]?.body['messages'] as { content: { text?: string }[] }[];
    expect(
      sent.flatMap(({ content }) => content).filter(({ text }) => text?.trim() === ''),
    ).toEqual([]);
    expect(JSON.stringify(sent)).toContain('"is_error":true');
  });
});
