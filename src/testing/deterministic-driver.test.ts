import { describe, expect, it } from 'vitest';
import { AgentBuilder } from '../agent/agent-builder.ts';
import { AgentState } from '../agent/agent-state.ts';
import { Cancelled } from '../cancellation.ts';
import { ErrorPolicy } from '../errors/error-policy.ts';
import type {
  InferenceChunk,
  InferenceRequest,
  InferenceResponse,
} from '../inference/inference-driver.ts';
import { Messages } from '../messages/messages.ts';
import { DeterministicDriver } from './deterministic-driver.ts';
import { fakeClock } from './fake-clock.ts';
import { mockTool } from './mock-tool.ts';
import { ScenarioStep } from './scenario-step.ts';

const request: InferenceRequest = {
  system: null,
  messages: Messages.empty(),
  tools: [],
  toolChoice: 'auto',
  responseFormat: null,
};
const { signal } = new AbortController();
const usage = { input: 10, output: 5, total: 15 };

async function chunksOf(driver: DeterministicDriver): Promise<InferenceChunk[]> {
  const chunks: InferenceChunk[] = [];
  for await (const chunk of driver.stream(request, { signal })) chunks.push(chunk);
  return chunks;
}

describe('a script', () => {
  it('is replayed in order', async () => {
    const driver = DeterministicDriver.fromResponses('one', 'two');
    expect([driver.remaining, driver.requests.length]).toEqual([2, 0]);
    expect(await driver.infer(request, { signal })).toMatchObject({ content: 'one' });
    expect([driver.remaining, driver.requests.length]).toEqual([1, 1]);
    expect(await driver.infer(request, { signal })).toMatchObject({ content: 'two' });
    expect(driver.remaining).toBe(0);
  });

  it('throws past its end, and run() rejects', async () => {
    const driver = DeterministicDriver.fromSteps(ScenarioStep.toolCall('stock'));
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTools(mockTool('stock', 7))
      .withErrorPolicy(ErrorPolicy.retryAll())
      .build();
    await expect(agent.run('go')).rejects.toMatchObject({
      code: 'script_exhausted',
      message:
        'DeterministicDriver got call 2, but its script has 1 answer. ' +
        'Add a step to the script, or find out why the run continues.',
    });
    expect([driver.remaining, driver.requests.length]).toEqual([0, 2]);
    await expect(agent.run('go', { wiretap: () => {} })).rejects.toMatchObject({
      code: 'script_exhausted',
    });
  });

  it('records each request as it was', async () => {
    const driver = DeterministicDriver.fromSteps(ScenarioStep.toolCall('stock'), 'Done.');
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withSystemPrompt('Be brief.')
      .withTools(mockTool('stock', 7))
      .withMaxSteps(2)
      .withSoftLanding()
      .build();
    const state = await agent.run('go');
    expect(driver.requests).toMatchObject([
      { system: 'Be brief.', messageCount: 1, toolChoice: 'auto', streamed: false },
      { system: 'Be brief.', messageCount: 3, toolChoice: 'none', streamed: false },
    ]);
    expect(driver.requests[0]!.messages.length).toBe(1);
    expect(driver.requests[0]!.tools.map(({ name }) => name)).toEqual(['stock']);
    expect(state.messages.length).toBe(4);
  });
});

describe('an answer', () => {
  it.each<[string, DeterministicDriver, Partial<InferenceResponse>]>([
    [
      'a text',
      DeterministicDriver.fromSteps('hi'),
      { content: 'hi', toolCalls: [], finishReason: 'stop', usage },
    ],
    [
      'a call with text',
      DeterministicDriver.fromSteps(ScenarioStep.toolCall('stock', { n: 1 }, 'Let me see.')),
      {
        content: 'Let me see.',
        toolCalls: [{ id: 'call_1', name: 'stock', args: { n: 1 } }],
        finishReason: 'tool_calls',
      },
    ],
    [
      'several calls, with ids, without and with none',
      DeterministicDriver.fromSteps(
        ScenarioStep.toolCalls([{ name: 'a' }, { name: 'b', id: 'x' }, { name: 'c', id: null }]),
      ),
      {
        toolCalls: [
          { id: 'call_1', name: 'a' },
          { id: 'x', name: 'b' },
          { id: null, name: 'c' },
        ],
      },
    ],
    [
      'everything else',
      DeterministicDriver.fromSteps(
        ScenarioStep.final('hi', {
          usage: null,
          cost: 0.5,
          finishReason: 'length',
          reasoning: 'hm',
          refusal: 'no',
          metadata: { signature: 's' },
        }),
      ),
      {
        usage: null,
        cost: 0.5,
        finishReason: 'length',
        reasoning: 'hm',
        refusal: 'no',
        metadata: { signature: 's' },
      },
    ],
    [
      'a whole response',
      DeterministicDriver.fromResponses({
        content: 'hi',
        toolCalls: [{ name: 'a', id: 'q', args: 'not an object' }],
        finishReason: 'other',
        usage: { input: 1 },
        metadata: { signature: 's' },
      }),
      {
        content: 'hi',
        toolCalls: [{ name: 'a', id: 'q', args: 'not an object' }],
        finishReason: 'other',
        usage: { input: 1 },
        metadata: { signature: 's' },
      },
    ],
  ])('%s', async (_what, driver, expected) => {
    expect(await driver.infer(request, { signal })).toMatchObject(expected);
  });

  it('ids count over the whole script and never repeat', async () => {
    const call = ScenarioStep.toolCall('a');
    const driver = DeterministicDriver.fromSteps(call, call, call);
    const ids = [];
    for (let i = 0; i < 3; i++)
      ids.push((await driver.infer(request, { signal })).toolCalls[0]!.id);
    expect(ids).toEqual(['call_1', 'call_2', 'call_3']);
  });

  it('a failed call is a failed step with its error record', async () => {
    const failing = async (step: ScenarioStep) =>
      AgentBuilder.base().withDriver(DeterministicDriver.fromSteps(step)).build().run('go');
    const plain = await failing(ScenarioStep.error('offline'));
    expect(plain.steps.at(0)).toMatchObject({
      type: 'error',
      errors: [{ type: 'model', code: 'scripted', message: 'offline', retryable: true }],
    });
    const record = { type: 'rate_limit', code: 'http_429', status: 429, retryAfterMs: 5 } as const;
    const limited = await failing(ScenarioStep.error(record, { usage: { input: 3 } }));
    expect(limited.steps.at(0)).toMatchObject({
      errors: [{ ...record, message: 'scripted error' }],
      usage: { input: 3 },
    });
  });
});

describe('the streaming form', () => {
  it('emits the chunks, the arguments in two parts, the usage and the same response', async () => {
    const step = { ...ScenarioStep.toolCall('stock', { n: 12 }, 'Let me see.') };
    const driver = DeterministicDriver.fromSteps(
      { ...step, chunks: ['Let me', ' see.'] },
      ScenarioStep.stream(['All', ' done.']),
      ScenarioStep.final('x', { usage: null }),
    );
    const twin = DeterministicDriver.fromSteps(step);
    const response = await twin.infer(request, { signal });
    expect(await chunksOf(driver)).toEqual([
      { type: 'content', text: 'Let me' },
      { type: 'content', text: ' see.' },
      { type: 'tool_call', index: 0, id: 'call_1', name: 'stock', argsDelta: '{"n"' },
      { type: 'tool_call', index: 0, argsDelta: ':12}' },
      { type: 'usage', usage },
      { type: 'done', response },
    ]);
    const second = await chunksOf(driver);
    expect(second.slice(0, 2).map((chunk) => ('text' in chunk ? chunk.text : ''))).toEqual([
      'All',
      ' done.',
    ]);
    expect(second.at(-1)).toMatchObject({ type: 'done', response: { content: 'All done.' } });
    expect((await chunksOf(driver)).map(({ type }) => type)).toEqual(['content', 'done']);
    expect(driver.requests.map(({ streamed }) => streamed)).toEqual([true, true, true]);
  });

  it('fails after its chunks', async () => {
    const driver = DeterministicDriver.fromSteps(
      ScenarioStep.error('cut', { chunks: ['Once ', 'upon'] }),
    );
    const seen: InferenceChunk[] = [];
    const read = async (): Promise<void> => {
      for await (const chunk of driver.stream(request, { signal })) seen.push(chunk);
    };
    await expect(read()).rejects.toMatchObject({ code: 'model_call_failed', message: 'cut' });
    expect(seen).toHaveLength(2);
  });

  it.each([true, false])(
    'the same script gives the same state with listeners: %s',
    async (loud) => {
      const driver = DeterministicDriver.fromSteps(
        ScenarioStep.toolCall('stock', {}, '', { usage: null }),
        ScenarioStep.final('7.', { usage: { input: 1, output: 2 }, cost: 0.25 }),
      );
      const agent = AgentBuilder.base().withDriver(driver).withTools(mockTool('stock', 7)).build();
      const state = await agent.run('go', loud ? { wiretap: () => {} } : {});
      expect(state.usage).toMatchObject({ input: 1, output: 2, total: 3 });
      expect(state.cost).toBe(0.25);
    },
  );
});

describe('time', () => {
  it('a delay passes on the given clock', async () => {
    const clock = fakeClock();
    const driver = DeterministicDriver.create([ScenarioStep.final('late', { delayMs: 5_000 })], {
      clock,
    });
    const agent = AgentBuilder.base().withDriver(driver).withClock(clock).build();
    const running = agent.run('go');
    await clock.advance(4_999);
    expect(driver.remaining).toBe(0);
    expect(clock.pendingTimers).toBeGreaterThan(0);
    await clock.advance(1);
    const state = await running;
    expect(state.output).toBe('late');
    expect(state.steps.at(0)!.durationMs).toBe(5_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it('an abort ends a delay and a call that hangs, and leaves no timer', async () => {
    for (const extras of [{ delayMs: 5_000 }, { hangs: true }]) {
      const clock = fakeClock();
      const stop = new AbortController();
      const driver = DeterministicDriver.create([ScenarioStep.final('never', extras)], { clock });
      const answer = driver.infer(request, { signal: stop.signal });
      stop.abort(new Cancelled({ by: 'user', reason: 'enough' }));
      await expect(answer).rejects.toThrow('enough');
      expect(clock.pendingTimers).toBe(0);
      await expect(driver.infer(request, { signal: stop.signal })).rejects.toMatchObject({
        code: 'script_exhausted',
      });
    }
  });

  it('the deadline of the run ends a call that hangs', async () => {
    const clock = fakeClock();
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(ScenarioStep.final('', { hangs: true })))
      .withClock(clock)
      .withTimeout({ seconds: 30 })
      .build();
    const running = agent.run(AgentState.empty().withUserMessage('go'));
    await clock.advance(30_000);
    expect(await running).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
  });
});
