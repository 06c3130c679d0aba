import {
  AgentBuilder,
  AgentState,
  createAgent,
  Message,
  type Agent,
  type AgentOptions,
} from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { toolSearch } from 'onward/capabilities';
import { describe, expect, it } from 'vitest';
import { callTool } from '../src/tools/call-tool.ts';
import { earlierResultTool } from '../src/agent/earlier-results.ts';
import { call, longAgent, longModel } from './setup/long-conversations.ts';

const { toolCall, final } = ScenarioStep;
const NAME = 'read_earlier_result';

describe('read_earlier_result', () => {
  it('is offered from the first step on, if compaction is on and the agent has tools', async () => {
    const namesOf = async (options: Partial<AgentOptions>): Promise<string[]> => {
      const driver = DeterministicDriver.fromResponses('done');
      await (createAgent({ driver, ...options } as never) as Agent).run('go');
      return driver.requests[0]!.tools.map(({ name }) => name);
    };
    const tools = [mockTool('a', 1), mockTool('b', 1)];
    expect(await namesOf({ tools })).toEqual(['a', 'b']);
    expect(await namesOf({ tools, compaction: true })).toEqual(['a', 'b', NAME]);
    expect(await namesOf({ compaction: {} })).toEqual([]);
    expect(await namesOf({ tools, compaction: {}, activeTools: ['a'] as never })).toEqual([
      'a',
      NAME,
    ]);
    expect(await namesOf({ tools, compaction: {}, activeTools: [] })).toEqual([]);
    const found = await namesOf({ tools, compaction: {}, capabilities: [toolSearch()] });
    expect(found).toEqual([NAME, 'search_tools', 'call_tool']);
    expect(() =>
      createAgent({ driver: longModel(), tools: [mockTool(NAME, 1)], compaction: {} }),
    ).toThrow(`Two tools are named "${NAME}"`);
  });

  it('reads what a note stands for', async () => {
    let read = '';
    const model = longModel({
      answer: ({ messages }) => {
        const last = messages.at(-1)!;
        if (last.isTool() && last.name === NAME) return ((read = last.text), { content: 'Read.' });
        if (last.isTool()) return { content: 'Found it.' };
        const note = messages.find(({ text }) => text.startsWith('[Left out'));
        const id = note && /"id": "(\w+)"/.exec(note.text)?.[1];
        return id ? call(NAME, { id }) : call('look');
      },
    });
    const agent = longAgent(model).withCompaction({ atTokens: 3_000 }).build();
    let state = AgentState.empty();
    for (let i = 0; read === '' && i < 20; i++)
      state = await agent.run(state.withUserMessage(`Question ${i}`));
    expect(JSON.parse(read)).toMatchObject({ text: state.messages.at(2)!.text });
  });

  const frame = (messages: readonly Message[], stored?: Message) => {
    const state = AgentState.empty().withMessages(...messages);
    const earlierResult = async (id: string) => (stored?.id === id ? stored : null);
    return { state, deps: {}, earlierResult } as never;
  };
  const read = (args: object, messages: readonly Message[], stored?: Message): Promise<unknown> =>
    callTool(earlierResultTool, args, 'c', {
      ...(frame(messages, stored) as object),
      cancellation: { join() {}, leave() {}, cause: null },
      clock: { now: () => 0, after: () => () => {} },
    } as never);

  it('returns at most 10,000 characters at a time', async () => {
    const text = Array.from({ length: 4_000 }, (_, i) => `word${i}`).join(' ');
    const message = Message.tool('c1', text, { id: 'msg_1' });
    let offset: number | undefined = 0;
    let whole = '';
    for (let i = 0; offset !== undefined && i < 10; i++) {
      const part = (await read({ id: 'msg_1', offset }, [message])) as {
        text: string;
        next_offset?: number;
        total_characters: number;
      };
      expect(part.text.length).toBeLessThanOrEqual(10_000);
      expect(part.total_characters).toBe(text.length);
      whole += part.text;
      offset = part.next_offset;
    }
    expect(whole).toBe(text);
    expect(await read({ id: 'msg_1', offset: 1e9 }, [message])).toMatchObject({ text: '' });
  });

  it('reads stored results that are not loaded, and nothing but results', async () => {
    const stored = Message.tool('c1', 'stored', { id: 'msg_s' });
    expect(await read({ id: 'msg_s' }, [], stored)).toEqual({
      text: 'stored',
      total_characters: 6,
    });
    const user = Message.user('mine', { id: 'msg_u' });
    const none = 'This conversation has no result with this id';
    await expect(read({ id: 'msg_u' }, [user])).rejects.toThrow(none);
    await expect(read({ id: 'msg_u' }, [], user)).rejects.toThrow(none);
    await expect(read({ id: 'msg_x' }, [], stored)).rejects.toThrow(none);
  });

  it('returns images again', async () => {
    const image = { type: 'image', data: 'iVBORw0KGgo=', mediaType: 'image/png' } as const;
    const message = Message.tool('c1', [{ type: 'text', text: 'a map' }, image], { id: 'msg_i' });
    const content = (await read({ id: 'msg_i' }, [message])) as { parts: readonly object[] };
    expect(content.parts).toMatchObject([{ type: 'text' }, { type: 'image' }]);
  });
});

describe('the options of compaction', () => {
  it.each<[string, unknown, RegExp]>([
    ['a number', 3, /compaction got 3, expected an object with atTokens/],
    ['an unknown key', { tokens: 3 }, /compaction tokens got 3, expected one of atTokens/],
    ['no tokens', { atTokens: 0 }, /compaction atTokens/],
    [
      'a share above 1',
      { atShare: 1.5 },
      /compaction atShare got 1.5, expected a share between 0 and 1/,
    ],
    ['a share of 0', { atShare: 0 }, /compaction atShare/],
    ['half a turn', { keepTurns: 0.5 }, /compaction keepTurns/],
    ['a window that is no number', { contextWindow: '128k' }, /compaction contextWindow/],
    [
      'a flag that is none',
      { summarize: 'yes' },
      /compaction summarize got "yes", expected a boolean/,
    ],
    ['an invalid model', { model: 7 }, /compaction model got 7/],
    [
      'nothing to do',
      { summarize: false, clearToolResults: false },
      /otherwise nothing is compacted/,
    ],
  ])('with %s are refused', (_, compaction, message) => {
    const driver = DeterministicDriver.create([]);
    expect(() => createAgent({ driver, compaction: compaction as never })).toThrow(message);
    if (typeof compaction !== 'boolean')
      expect(() => AgentBuilder.base().withCompaction(compaction as never)).toThrow(
        /^withCompaction/,
      );
  });

  it('take the smallest context window of the models', async () => {
    const essay = { content: 'word '.repeat(400) };
    const windows: [number | undefined, number | undefined, object, boolean][] = [
      [3_000, 100_000, {}, true],
      [100_000, 3_000, {}, true],
      [100_000, undefined, {}, false],
      [undefined, undefined, {}, false],
      [undefined, undefined, { contextWindow: 3_000 }, true],
      [3_000, 3_000, { contextWindow: 100_000 }, false],
      [100_000, 100_000, { atShare: 0.03 }, true],
      [3_000, 3_000, { atTokens: 100_000 }, false],
    ];
    for (const [first, second, options, compacts] of windows) {
      const answer = () => essay;
      const [a, b] = [first, second].map((contextWindow) =>
        longModel({ answer, ...(contextWindow !== undefined && { contextWindow }) }),
      );
      const agent = longAgent(a!)
        .withFallback({ ...b!, name: 'b' })
        .withCompaction(options)
        .build();
      let state = AgentState.empty();
      for (let i = 0; i < 8; i++) state = await agent.run(state.withUserMessage('More.'));
      expect(state.compactions.length > 0).toBe(compacts);
    }
  });

  it('are off by default', async () => {
    const driver = DeterministicDriver.create([toolCall('look'), final('done')]);
    const agent = AgentBuilder.base()
      .withModel(driver)
      .withTools(mockTool('look', 'x'.repeat(9_000)));
    const state = await agent.build().run('go');
    expect(state.compactions).toEqual([]);
    expect(driver.requests[1]!.tools).toHaveLength(1);
  });
});
