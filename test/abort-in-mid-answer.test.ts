import { AgentBuilder } from 'onward';
import type { InferenceDriver, InferenceChunk } from 'onward/drivers';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { never } from './setup/abort-trap.ts';
import { takesAnotherTurn } from './setup/states.ts';

const { toolCall, final } = ScenarioStep;

describe('D45: after an abort, the stored text equals the streamed text', () => {
  const texts = {
    prose: ['The ', 'lamp ', 'is ', 'in ', 'stock.'],
    'text that starts like JSON': ['{"la', 'mp":', ' 7}', ' is what', ' we have'],
    'a code fence': ['```', 'js\n', 'const', ' a = 1', '\n```'],
    'a split surrogate pair': ['😀'.slice(0, 1), '😀'.slice(1), ' ok', '!', '!'],
  };
  const rows = Object.entries(texts).flatMap(([name, chunks]) =>
    chunks.map((_chunk, k) => [name, k, chunks] as const),
  );

  it.each(rows)('%s, abort after %i chunks', async (_name, k, chunks) => {
    const controller = new AbortController();
    let shown = '';
    const driver: InferenceDriver = {
      name: 'stubborn',
      infer: () => never,
      async *stream() {
        for (const [i, text] of chunks.entries()) {
          if (i === k) controller.abort('enough');
          yield { type: 'content', text };
        }
        yield {
          type: 'done',
          response: { content: chunks.join(''), toolCalls: [], finishReason: 'stop', usage: null },
        };
      },
    };
    const agent = AgentBuilder.base().withDriver(driver).withTools(mockTool('search')).build();
    const ids = new Set<string>();
    const state = await agent.run('go', {
      signal: controller.signal,
      wiretap: (e) => {
        if (e.type !== 'StreamChunk') return;
        shown += e.content;
        ids.add(e.messageId);
      },
    });
    const stored = state.messages.withRole('assistant');
    expect(shown).toBe(chunks.slice(0, k).join(''));
    expect(stored.map(({ text }) => text)).toEqual(k === 0 ? [] : [shown]);
    expect(stored.map(({ id }) => id)).toEqual([...ids]);
    expect(state.outputText).toBe(shown);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(state.steps.at(-1)).toMatchObject({ type: 'cut', errors: [], finishReason: null });
    if (k > 0) expect(stored[0]?.metadata).toEqual({ cut: true });
    await takesAnotherTurn(state);
  });

  it('drops tool calls that were still streaming and keeps the text before them', async () => {
    const controller = new AbortController();
    const driver: InferenceDriver = {
      name: 'stubborn',
      infer: () => never,
      async *stream() {
        yield { type: 'content', text: 'Let me see.' };
        yield { type: 'tool_call', index: 0, id: 'a', name: 'search', argsDelta: '{"q"' };
        controller.abort();
        await never;
      },
    };
    const search = mockTool('search');
    const agent = AgentBuilder.base().withDriver(driver).withTools(search).build();
    const state = await agent.run('go', { signal: controller.signal, wiretap: () => {} });
    expect(state.messages.last()).toMatchObject({ content: 'Let me see.', toolCalls: [] });
    expect(search.calls).toEqual([]);
    await takesAnotherTurn(state);
  });
});

describe('D47: usage of an aborted model call', () => {
  const aborted = async (chunks: readonly InferenceChunk[], clean = true) => {
    const controller = new AbortController();
    const driver: InferenceDriver = {
      name: 'counting',
      infer: () => never,
      async *stream() {
        yield* chunks;
        if (clean) controller.abort();
        await never;
      },
    };
    const agent = AgentBuilder.base().withDriver(driver).build();
    return agent.run('go', { signal: controller.signal, wiretap: () => {} });
  };

  it('keeps the last reported usage', async () => {
    const state = await aborted([
      { type: 'usage', usage: { input: 100, output: 1 } },
      { type: 'content', text: 'Hi' },
      { type: 'usage', usage: { input: 100, output: 7 }, cost: 0.25 },
    ]);
    expect(state.usage).toMatchObject({ input: 100, output: 7, total: 107 });
    expect(state.cost).toBe(0.25);
    expect(state.info.usage.total).toBe(107);
    expect(state.steps.at(-1)!.notes).toEqual([]);
  });

  it('notes usageUnknown when no usage was reported', async () => {
    const state = await aborted([{ type: 'content', text: 'Hi' }]);
    expect(state.usage.total).toBe(0);
    expect(state.steps.at(-1)!.notes).toEqual(['usageUnknown']);
  });

  it('keeps the usage of finished steps', async () => {
    const controller = new AbortController();
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('search'), final('', { hangs: true })))
      .withTools(mockTool('search'))
      .build();
    agent.on('AgentStepStarted', ({ stepNumber }) => {
      if (stepNumber === 2) setTimeout(() => controller.abort(), 5);
    });
    const state = await agent.run('go', { signal: controller.signal });
    expect(state.usage.total).toBe(15);
    expect([...state.steps].map(({ type }) => type)).toEqual(['tool_calls', 'cut']);
    await takesAnotherTurn(state);
  });
});
