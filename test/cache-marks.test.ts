import {
  AgentBuilder,
  AgentState,
  createAgent,
  defineTool,
  Message,
  SessionRuntime,
  SlimAgentStateSerializer,
  SlimSerializationConfig,
} from 'onward';
import type { AiSdkOptions } from 'onward/drivers/ai-sdk';
import { openai } from 'onward/drivers/openai';
import { memoryStore } from 'onward/stores/memory';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { builder, claude, claudeEnds, lookup, marksIn, wire } from './setup/prompt-cache.ts';

describe('D83: cache marks of the user', () => {
  it('leave with the message, the tool, the tool result and the system prompt', async () => {
    const server = wire(claudeEnds);
    const state = AgentState.empty().withMessages(
      { role: 'user', content: 'a long document', cache: true },
      Message.assistant('', {
        toolCalls: [
          { id: 'a', name: 'lookup', args: {} },
          { id: 'b', name: 'lookup', args: {} },
        ],
      }),
      Message.tool('a', 'one', { cache: '5m' }),
      Message.tool('b', 'two'),
      Message.assistant('ok'),
      Message.user('go'),
    );
    const first = defineTool({
      name: 'first',
      description: 'First.',
      cache: '1h',
      execute: () => 1,
    });
    const agent = createAgent({
      model: claude(server, { promptCache: 'off' }),
      systemPrompt: { text: 'Be kind.', cache: '5m' },
      tools: [first, lookup],
    });
    await agent.run(state);
    const [body] = server.bodies();
    expect(marksIn(body)).toEqual([
      'system.0 5m',
      'messages.0.content.0 5m',
      'messages.2.content.0 5m',
      'tools.0 1h',
    ]);
    const blocks = body?.['messages'] as { content: { type: string }[] }[];
    expect(blocks[2]?.content.map(({ type }) => type)).toEqual(['tool_result', 'tool_result']);
  });

  it('take precedence over automatic ones', async () => {
    const server = wire(claudeEnds);
    const state = AgentState.empty().withMessages(
      Message.user('a', { cache: '1h' }),
      Message.assistant('b', { cache: true }),
      Message.user('c', { cache: true }),
      Message.assistant('d'),
      Message.user('e'),
    );
    await builder(claude(server)).build().run(state);
    // the fourth is automatic, at the end; nothing is left for the system prompt
    expect(marksIn(server.bodies()[0])).toEqual([
      'messages.0.content.0 1h',
      'messages.1.content.0 5m',
      'messages.2.content.0 5m',
      'messages.4.content.0 5m',
    ]);
  });

  it('are at most four: the system prompt, the last marked tool, the newest messages', async () => {
    const server = wire(claudeEnds);
    const tools = ['one', 'two', 'three'].map((name) => mockTool(name, 'x', { cache: true }));
    const messages = Array.from({ length: 5 }, (_, i) => [
      Message.user(`question ${i}`, { cache: true }),
      ...(i < 4 ? [Message.assistant('ok')] : []),
    ]).flat();
    const agent = createAgent({
      model: claude(server),
      tools,
      systemPrompt: { text: 'Be kind.', cache: true },
    });
    const state = await agent.run(AgentState.empty().withMessages(...messages));
    expect(marksIn(server.bodies()[0])).toEqual([
      'system.0 5m',
      'messages.6.content.0 5m',
      'messages.8.content.0 5m',
      'tools.2 5m',
    ]);
    expect(state.steps.at(0)?.modelCall?.warnings).toBeUndefined();
  });

  it('that last an hour make those before them last an hour, which providers require', async () => {
    const server = wire(claudeEnds);
    const options: AiSdkOptions = {
      systemOptions: { anthropic: { cacheControl: { type: 'ephemeral' }, other: 1 } },
    };
    const state = AgentState.empty().withMessages(
      Message.user('a', { cache: '1h' }),
      Message.assistant('b'),
      Message.user('c'),
    );
    await builder(claude(server, options)).build().run(state);
    expect(marksIn(server.bodies()[0])).toEqual([
      'system.0 1h',
      'messages.0.content.0 1h',
      'messages.2.content.0 5m',
    ]);
  });

  it('survive JSON, the slim form without metadata, a store and a fork', async () => {
    const marked = AgentState.empty().withMessages(
      Message.user('a', { cache: '1h', metadata: { x: 1 } }),
    );
    const restored = AgentState.from(JSON.parse(JSON.stringify(marked)));
    expect(restored.messages.at(0)).toMatchObject({ cache: '1h', metadata: { x: 1, cache: '1h' } });
    const slim = new SlimAgentStateSerializer(SlimSerializationConfig.minimal());
    expect(slim.deserialize(slim.serialize(marked)).messages.at(0)?.cache).toBe('1h');

    const server = wire(claudeEnds, claudeEnds);
    const agent = createAgent({ name: 'cached', model: claude(server, { promptCache: 'off' }) });
    const runtime = new SessionRuntime({ store: memoryStore(), agents: [agent] });
    const owner = { owner: 'ann' };
    const session = await runtime.create({ agent: 'cached', ...owner });
    await runtime.send(session.id, 'a document', { ...owner, cache: true, wait: true });
    const fork = await runtime.fork(session.id, owner);
    await runtime.send(fork.id, 'and?', { ...owner, wait: true });
    await runtime.close();
    expect(server.bodies().map((body) => marksIn(body))).toEqual([
      ['messages.0.content.0 5m'],
      ['messages.0.content.0 5m'],
    ]);
  });

  it.each<[unknown]>([['2h'], [{ type: 'ephemeral' }], [1], ['1h\n'], [null], [['1h']]])(
    'ignore %j in stored metadata',
    async (cache) => {
      const server = wire(claudeEnds);
      const state = AgentState.from(
        JSON.parse(
          JSON.stringify(
            AgentState.empty().withMessages({
              role: 'user',
              content: 'a',
              metadata: { cache } as never,
            }),
          ),
        ),
      );
      expect(state.messages.at(0)?.cache).toBe(false);
      await AgentBuilder.base()
        .withModel(claude(server, { promptCache: 'off' }))
        .build()
        .run(state);
      expect(marksIn(server.bodies()[0])).toEqual([]);
    },
  );

  it('are checked where they are set', () => {
    const server = wire();
    const expected = "expected true, false, '5m' or '1h'";
    const soon = 'soon' as never;
    expect(() => Message.user('a', { cache: soon })).toThrow(`its cache is "soon", ${expected}`);
    expect(() =>
      defineTool({ name: 't', description: 'T.', cache: soon, execute: () => 1 }),
    ).toThrow(`Tool "t" cache`);
    const prompt = { text: 'a', cache: soon };
    expect(() => createAgent({ model: claude(server), systemPrompt: prompt })).toThrow(
      'systemPrompt cache',
    );
    expect(() => builder(claude(server)).withSystemPrompt(prompt).build()).toThrow(
      'withSystemPrompt cache',
    );
    expect(() => claude(server, { promptCache: soon })).toThrow("'auto', 'on' or 'off'");
    expect(() => openai('gpt-5', { promptCache: 'on' })).toThrow('this API caches without marks');
    expect(Message.user('a', { cache: false, metadata: { cache: '1h' } }).metadata).toEqual({});
  });
});
