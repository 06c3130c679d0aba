import { AgentBuilder, AgentState, type AgentEvent } from 'onward';
import type { InferenceDriver, InferenceChunk, InferenceResponse } from 'onward/drivers';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';

const args = { city: 'Paris', tags: ['a', 'b'], note: 'say "hi" {now}' };
const json = JSON.stringify(args);
const named = { name: 'weather', arguments: args };

/** D61: text that models emit next to the same structured call. */
const leaks: Readonly<Record<string, string>> = {
  'bare arguments': json,
  'indented arguments': JSON.stringify(args, null, 2),
  'name and arguments': JSON.stringify(named),
  'name and parameters': JSON.stringify({ name: 'weather', parameters: args }),
  'an OpenAI function object': JSON.stringify({
    id: 'call_9',
    type: 'function',
    function: { name: 'weather', arguments: json },
  }),
  'an array': JSON.stringify([named]),
  'a json fence': `\`\`\`json\n${json}\n\`\`\``,
  'a fence with a call': `\`\`\`\n${JSON.stringify(named)}\n\`\`\`\n`,
  'a tool_calls wrapper': JSON.stringify({ tool_calls: [named] }),
  'arguments as a string': JSON.stringify({ name: 'weather', arguments: json }),
  'space around': `\n ${json} \n`,
};

const response = (content: string): InferenceResponse => ({
  content,
  toolCalls: [{ id: 'call_1', name: 'weather', args }],
  finishReason: 'tool_calls',
  usage: null,
});

/** A driver that emits `pieces` before or after the tool call, then answers in prose. */
function talkative(pieces: readonly string[], callFirst = false): InferenceDriver {
  let calls = 0;
  const done: InferenceResponse = { ...response(''), content: 'Sunny.', toolCalls: [] };
  const content = pieces.map((text): InferenceChunk => ({ type: 'content', text }));
  const call: InferenceChunk[] = [
    { type: 'tool_call', index: 0, id: 'call_1', name: 'weather', argsDelta: json },
  ];
  return {
    name: 'talkative',
    infer: async () => (calls++ === 0 ? response(pieces.join('')) : done),
    async *stream() {
      if (calls++ > 0) return yield { type: 'done', response: done };
      yield* callFirst ? [...call, ...content] : [...content, ...call];
      yield { type: 'done', response: response(pieces.join('')) };
    },
  };
}

async function watch(driver: InferenceDriver, streamed: boolean) {
  const weather = mockTool('weather', 'sun');
  const agent = AgentBuilder.base().withDriver(driver).withTools(weather).build();
  const events: AgentEvent[] = [];
  const state = await agent.run('go', streamed ? { wiretap: (e) => events.push(e) } : {});
  const first = state.steps.at(0)!;
  const shown = events.flatMap((e) =>
    e.type === 'StreamChunk' && e.stepNumber === 1 ? [e.content] : [],
  );
  return { state, first, weather, shown: shown.join('') };
}

const said = (state: AgentState): string[] =>
  state.messages.withRole('assistant').map(({ text }) => text);

const splits = (text: string): string[][] => [
  [text],
  ...Array.from(text.slice(1), (_c, i) => [text.slice(0, i + 1), text.slice(i + 1)]),
  text.split(''),
];

describe('D61: tool arguments never appear as assistant text', () => {
  it.each(Object.entries(leaks))('%s, not streamed', async (_shape, text) => {
    const { state, first, weather } = await watch(talkative([text]), false);
    expect(weather.calls).toEqual([args]);
    expect(said(state)).toEqual(['', 'Sunny.']);
    expect(first.notes).toEqual(['contentLeakDropped']);
    expect(state.messages.pairingProblem()).toBeNull();
  });

  it.each(Object.entries(leaks))('%s, streamed in any two pieces', async (_shape, text) => {
    for (const pieces of splits(text)) {
      const { state, first, weather, shown } = await watch(talkative(pieces), true);
      expect({ pieces, shown }).toEqual({ pieces, shown: '' });
      expect(said(state)).toEqual(['', 'Sunny.']);
      expect(first.notes).toEqual(['contentLeakDropped']);
      expect(weather.calls).toHaveLength(1);
    }
  });

  it.each(Object.entries(leaks))('%s, streamed after the call', async (_shape, text) => {
    const { state, shown } = await watch(talkative([text.slice(0, 3), text.slice(3)], true), true);
    expect(shown).toBe('');
    expect(said(state)).toEqual(['', 'Sunny.']);
  });

  it('keeps one assistant message with its calls, and the next turn works', async () => {
    const { state } = await watch(talkative([json]), true);
    const roles = state.messages.toJSON().map(({ role }) => role);
    expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(state.messages.at(1)!.toolCalls).toEqual([{ id: 'call_1', name: 'weather', args }]);
    const next = await AgentBuilder.base()
      .withDriver(DeterministicDriver.fromResponses('next'))
      .build()
      .run(AgentState.from(JSON.parse(JSON.stringify(state))).withUserMessage('more'));
    expect(next.output).toBe('next');
  });
});

describe('text next to tool calls is kept and streamed', () => {
  it.each([
    'Let me look that up.',
    `I will call it with ${json}`,
    `${json}\nThat is what I will look for.`,
    '[Note] this may take a while',
    '{city} it is',
    '```js\nfetch("/weather")\n```',
    '{"city":"Rome"}',
    'Ich schaue nach. 😀',
  ])('%s', async (text) => {
    const whole = await watch(talkative([text]), false);
    expect(said(whole.state)).toEqual([text, 'Sunny.']);
    expect(whole.first.notes).toEqual([]);
    for (const pieces of splits(text)) {
      const { state, first, shown, weather } = await watch(talkative(pieces), true);
      expect({ pieces, shown }).toEqual({ pieces, shown: text });
      expect(said(state)).toEqual([text, 'Sunny.']);
      expect(first.notes).toEqual([]);
      expect(weather.calls).toHaveLength(1);
    }
  });
});

describe('text that looks like a tool call, without structured calls', () => {
  it.each([
    ['name and arguments', ['looksLikeToolCall']],
    ['an OpenAI function object', ['looksLikeToolCall']],
    ['a fence with a call', ['looksLikeToolCall']],
    ['bare arguments', []],
  ] as const)('%s is kept, streamed, noted and never run', async (shape, notes) => {
    const text = leaks[shape]!;
    for (const pieces of splits(text)) {
      const weather = mockTool('weather', 'sun');
      const agent = AgentBuilder.base()
        .withDriver(DeterministicDriver.fromSteps(ScenarioStep.stream(pieces)))
        .withTools(weather)
        .build();
      let shown = '';
      const state = await agent.run('go', {
        wiretap: (e) => {
          if (e.type === 'StreamChunk') shown += e.content;
        },
      });
      expect(state).toMatchObject({ status: 'completed', output: text });
      expect(shown).toBe(text);
      expect(state.steps.at(0)!.notes).toEqual(notes);
      expect(weather.calls).toEqual([]);
    }
  });

  it('is not held back if the agent has no tools', async () => {
    const chunks: string[] = [];
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(ScenarioStep.stream(['{"a":', '1}'])))
      .build();
    await agent.run('go', {
      wiretap: (e) => {
        if (e.type === 'StreamChunk') chunks.push(e.content);
      },
    });
    // the redactor holds the colon back until it sees the value
    expect(chunks).toEqual(['{"a"', ':1}']);
  });
});

describe('streaming an answer', () => {
  it('emits prose as it arrives, with the id of the final message', async () => {
    const events: AgentEvent[] = [];
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(ScenarioStep.stream(['Hel', 'lo ', 'you'])))
      .withTools(mockTool('weather'))
      .build();
    const state = await agent.run('go', { wiretap: (e) => events.push(e) });
    const chunks = events.flatMap((e) => (e.type === 'StreamChunk' ? [e] : []));
    expect(chunks.map(({ content, index }) => [index, content])).toEqual([
      [0, 'Hel'],
      [1, 'lo '],
      [2, 'you'],
    ]);
    expect(new Set(chunks.map(({ messageId }) => messageId))).toEqual(
      new Set([state.messages.last()!.id]),
    );
  });

  it('fails and discards the text if the stream ends early', async () => {
    const types: string[] = [];
    const driver: InferenceDriver = {
      name: 'short',
      infer: () => new Promise(() => {}),
      async *stream() {
        yield { type: 'content', text: 'Half an ans' };
      },
    };
    const agent = AgentBuilder.base().withDriver(driver).build();
    const state = await agent.run('go', { wiretap: (e) => types.push(e.type) });
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(state.steps.at(0)!.errors).toMatchObject([
      { type: 'timeout', code: 'stream_incomplete', retryable: true },
    ]);
    expect(types).toContain('StreamDiscarded');
    expect(state.messages.length).toBe(1);
  });

  it('emits one chunk if the driver cannot stream', async () => {
    const chunks: string[] = [];
    const { infer } = DeterministicDriver.fromResponses('Hello');
    const agent = AgentBuilder.base().withDriver({ name: 'plain', infer }).build();
    await agent.run('go', {
      wiretap: (e) => {
        if (e.type === 'StreamChunk') chunks.push(e.content);
      },
    });
    expect(chunks).toEqual(['Hello']);
  });
});
