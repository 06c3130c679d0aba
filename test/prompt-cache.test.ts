import { createAnthropic } from '@ai-sdk/anthropic';
import { AgentBuilder, AgentState, createAgent, Message } from 'onward';
import type { AiSdkOptions } from 'onward/drivers/ai-sdk';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  builder,
  claude,
  claudeCalls,
  claudeEnds,
  claudeSays,
  lookup,
  marksIn,
  unmarked,
  usage,
  wire,
} from './setup/prompt-cache.ts';

describe('D83: automatic cache marks, on the wire of @ai-sdk/anthropic', () => {
  it('cover system and tools, and move with the end of the request through a loop', async () => {
    const server = wire(claudeCalls(1), claudeCalls(2, 'toolu_2b'), claudeEnds);
    const state = await builder(claude(server)).build().run('go');
    expect(state.output).toBe('Done.');
    expect(server.bodies().map((body) => marksIn(body))).toEqual([
      ['system.0 5m', 'messages.0.content.0 5m'],
      ['system.0 5m', 'messages.0.content.0 5m', 'messages.2.content.0 5m'],
      ['system.0 5m', 'messages.2.content.0 5m', 'messages.4.content.1 5m'],
    ]);
    const blocks = server.bodies()[2]?.['messages'] as { content: { type: string }[] }[];
    expect(blocks[4]?.content[1]?.type).toBe('tool_result');
  });

  it('leave the prefix byte by byte the same', async () => {
    const server = wire(claudeCalls(1), claudeCalls(2, 'toolu_2b'), claudeEnds, claudeEnds);
    const agent = builder(claude(server)).build();
    const state = await agent.run('go');
    await agent.run(state.withUserMessage('and now?'));
    const bodies = server.sent.map(unmarked);
    for (const [i, body] of bodies.slice(1).entries()) {
      const open = bodies[i]?.slice(0, bodies[i].lastIndexOf(']}],"tools"')) ?? '';
      expect(open.length).toBeGreaterThan(40);
      expect(body.startsWith(open)).toBe(true);
    }
  });

  it('are the same in a stream, and where @ai-sdk/anthropic answers through a name without options', async () => {
    const events = [
      {
        type: 'message_start',
        message: {
          ...claudeSays('end_turn', []),
          stop_reason: null,
          usage: {
            ...usage,
            cache_creation_input_tokens: 50,
            cache_creation: { ephemeral_1h_input_tokens: 20 },
          },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 5 },
      },
      { type: 'message_stop' },
    ];
    let body = '';
    const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
      body = init?.body as string;
      const text = events.map(
        (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
      );
      return new Response(text.join(''), { headers: { 'content-type': 'text/event-stream' } });
    };
    const agent = builder(createAnthropic({ apiKey: 'none', fetch })('claude-sonnet-4-6')).build();
    const state = await agent.stream('go').state;
    expect(marksIn(JSON.parse(body))).toEqual(['system.0 5m', 'messages.0.content.0 5m']);
    expect(state.usage).toMatchObject({ input: 60, cacheWrite: 50, cacheWrite1h: 20 });
  });

  it('are on the last tool where there is no system prompt, or where it changes with each step', async () => {
    const [plain, noted] = [wire(claudeEnds), wire(claudeEnds)];
    const tools = [mockTool('first'), lookup];
    await createAgent({ model: claude(plain), tools }).run('go');
    await createAgent({
      model: claude(noted),
      tools,
      systemPrompt: 'Be kind.',
      prepareStep: ({ stepNumber }) => ({ system: `Step ${stepNumber}.` }),
    }).run('go');
    expect(marksIn(plain.bodies()[0])).toEqual(['messages.0.content.0 5m', 'tools.1 5m']);
    expect(marksIn(noted.bodies()[0])).toEqual(['tools.1 5m']);
  });

  it('are before the budget note, which only one request has', async () => {
    const noted = wire(claudeCalls(1), claudeEnds);
    const tools = [mockTool('first'), lookup];
    const options = { tools, systemPrompt: 'Be kind.', budgetNote: true };
    await createAgent({ model: claude(noted), ...options }).run('go');
    const marks = noted.bodies().map((body) => marksIn(body));
    expect(marks[0]).toEqual(['system.0 5m', 'messages.0.content.0 5m']);
    expect(marks[1]).toContain('messages.2.content.0 5m');
    for (const body of noted.bodies()) expect(JSON.stringify(body)).toContain('Budget used so far');
    const [first, second] = noted.sent.map(unmarked);
    expect(first!.indexOf('Budget')).toBeGreaterThan(0);
    expect(
      second!.startsWith(first!.slice(0, first!.indexOf(',{"type":"text","text":"Budget'))),
    ).toBe(true);
  });

  it.each<[string, AiSdkOptions, string[]]>([
    ['off', { promptCache: 'off' }, []],
    [
      'the mark of the whole request, which the provider places',
      { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
      ['5m'],
    ],
    [
      'the options of the system prompt',
      {
        promptCache: 'off',
        systemOptions: { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } } },
      },
      ['system.0 1h'],
    ],
  ])('yield to %s', async (_what, options, expected) => {
    const server = wire(claudeEnds);
    await builder(claude(server, options)).build().run('go');
    expect(marksIn(server.bodies()[0])).toEqual(expected);
  });

  it('are never on blank texts, thinking or empty messages', async () => {
    const server = wire(claudeEnds);
    const state = AgentState.empty().withMessages(
      Message.user('first'),
      Message.assistant('', { toolCalls: [{ id: 'a', name: 'lookup', args: {} }] }),
      Message.tool('a', ' '),
      Message.assistant('ok'),
      Message.user([
        { type: 'text', text: 'look' },
        { type: 'text', text: ' ' },
      ]),
    );
    await AgentBuilder.base().withModel(claude(server)).withSystemPrompt(' ').build().run(state);
    const [body] = server.bodies();
    expect(marksIn(body)).toEqual(['messages.0.content.0 5m', 'messages.4.content.0 5m']);
    expect(JSON.stringify(body)).not.toContain('"text":" "');
  });
});

describe('D83: usage of a prompt cache', () => {
  it('is counted and priced in each step', async () => {
    const server = wire(claudeCalls(1), claudeCalls(2), claudeEnds);
    const state = await builder(claude(server)).build().run('go');
    expect(state.steps.at(1)?.usage).toEqual({
      input: 2_003,
      output: 5,
      total: 2_008,
      cachedInput: 1_000,
      reasoning: 0,
      cacheWrite: 1_000,
    });
    // claude-sonnet-4-6: 3 in, 15 out, 0.3 read, 3.75 written, 6 written for an hour
    expect(state.steps.at(1)?.cost).toBeCloseTo(
      (3 * 3 + 5 * 15 + 1_000 * 0.3 + 1_000 * 3.75) / 1e6,
      12,
    );
    expect(state.steps.at(2)?.usage).toMatchObject({ cacheWrite: 500, cacheWrite1h: 100 });
    expect(state.steps.at(2)?.cost).toBeCloseTo(
      (4 * 3 + 5 * 15 + 2_000 * 0.3 + 400 * 3.75 + 100 * 6) / 1e6,
      12,
    );
    expect(state.usage).toMatchObject({ cachedInput: 3_000, cacheWrite: 2_500, cacheWrite1h: 100 });
  });
});
