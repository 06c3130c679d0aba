import { AgentBuilder, AgentState, Message } from 'onward';
import { openai } from 'onward/drivers/openai';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { json, serve } from './setup/loopback.ts';
import { wires } from './setup/provider-wires.ts';
import { called, reasoning, response, said } from './setup/responses-samples.ts';
import { ScriptedProvider } from './setup/scripted-provider.ts';

/** Texts of a request that are only white space, wherever they are. */
const blankTexts = (value: unknown, key = ''): string[] => {
  if (typeof value === 'string') return textKeys.has(key) && value.trim() === '' ? [key] : [];
  if (Array.isArray(value)) return value.flatMap((item) => blankTexts(item, key));
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, item]) => blankTexts(item, name))
    : [];
};
const textKeys = new Set(['content', 'text', 'system', 'instructions']);

describe('D87: blank text never goes back to a provider', () => {
  it.each(wires.map((wire) => [wire.name, wire] as const))(
    '%s: of its own answers, alone and beside calls',
    async (_name, wire) => {
      const provider = new ScriptedProvider(wire, [
        { text: ' \n', calls: [{ name: 'lookup' }] },
        { thought: 'Nothing to say.', text: '\n\n' },
      ]);
      const agent = AgentBuilder.base()
        .withModel(provider.model)
        .withSystemPrompt(' \n')
        .withTools(mockTool('lookup', 'seen'))
        .build();
      const first = await agent.run('go');
      const second = await agent.run(first.withUserMessage('more'));
      expect(second.output).toBe('next');
      expect(provider.problems).toEqual([]);
      expect(provider.bodies).toHaveLength(3);
      expect(provider.bodies.flatMap((body) => blankTexts(body))).toEqual([]);
    },
  );

  it.each(wires.map((wire) => [wire.name, wire] as const))(
    '%s: of a stored conversation, messages of users and parts included',
    async (_name, wire) => {
      const provider = new ScriptedProvider(wire, []);
      const history = AgentState.empty().withMessages(
        Message.user('\t'),
        Message.user([
          { type: 'text', text: ' ' },
          { type: 'text', text: 'hi' },
        ]),
        Message.assistant('  \n'),
        Message.user('go'),
        Message.assistant('\n', { toolCalls: [{ id: 'call_1', name: 'lookup', args: {} }] }),
        Message.tool('call_1', 'seen'),
      );
      const agent = AgentBuilder.base()
        .withModel(provider.model)
        .withTools(mockTool('lookup'))
        .build();
      const state = await agent.run(history.withUserMessage('more'));
      expect(state.output).toBe('next');
      expect(provider.bodies.flatMap((body) => blankTexts(body))).toEqual([]);
    },
  );

  it('takes along the reasoning that led to it, which Responses rejects without its item', async () => {
    const server = await serve(
      json(response([reasoning(1, 'Hm.'), said(' \n'), reasoning(2, 'So.'), called('c1', 'x')])),
      json(response([said('Done.')])),
    );
    await AgentBuilder.base()
      .withModel(openai('gpt-5', { baseURL: server.url, api: 'responses' }))
      .withTools(mockTool('x', 'seen'))
      .build()
      .run('go');
    const input = server.requests[1]?.body['input'] as { type?: string; summary?: unknown }[];
    expect(input.map(({ type }) => type)).toEqual([
      undefined,
      'reasoning',
      'function_call',
      'function_call_output',
    ]);
    expect(JSON.stringify(input)).toContain('So.');
  });
});
