import { AgentBuilder, AgentState, ErrorPolicy, type AgentEvent, type Hook } from 'onward';
import type { InferenceChunk, InferenceDriver } from 'onward/drivers';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { ask, asTool, builder } from './setup/nested-agents.ts';

const { final, toolCall, error } = ScenarioStep;

const report = (n: number) => ({
  model: `m-${n}`,
  requestId: `req_${n}`,
  rawFinishReason: `word_${n}`,
  warnings: [`warning ${n}`],
});
const overloaded = { type: 'rate_limit', code: 'overloaded', message: 'Overloaded.' } as const;
const retrying = ErrorPolicy.retryAll(2).withBackoff({ initialMs: 0 });

/** Emits chunks at times of the clock, then the answer. */
const timed = (
  clock: ReturnType<typeof fakeClock>,
  ...chunks: readonly (readonly [number, InferenceChunk])[]
): InferenceDriver => ({
  name: 'timed',
  infer: () => Promise.reject(new Error('streams only')),
  async *stream() {
    for (const [ms, chunk] of chunks) {
      if (ms > 0) await new Promise<void>((resolve) => void clock.after(ms, resolve));
      yield chunk;
    }
  },
});
const done = (content: string): InferenceChunk => ({
  type: 'done',
  response: { content, toolCalls: [], finishReason: 'stop', usage: null },
});

describe('the record of a model call in its step', () => {
  it('is in the step, the event and the state after JSON', async () => {
    const events: AgentEvent[] = [];
    const agent = builder('a', [toolCall('look', {}, '', report(1)), final('Done.', report(2))])
      .withTools(mockTool('look', 'seen'))
      .build();
    const state = await agent.run('go', { wiretap: (event) => events.push(event) });
    const read = AgentState.from(JSON.parse(JSON.stringify(state)));
    for (const steps of [state.steps, read.steps])
      expect([...steps].map(({ modelCall }) => modelCall)).toMatchObject([report(1), report(2)]);
    const completed = events.filter(({ type }) => type === 'AgentStepCompleted');
    expect(completed).toMatchObject([{ modelCall: report(1) }, { modelCall: report(2) }]);
  });

  it('is absent if the provider reports nothing, and without a time if it does not stream', async () => {
    const state = await builder('a', [final('Done.')])
      .build()
      .run('go');
    expect(state.steps.at(0)).not.toHaveProperty('modelCall');
    const reported = await builder('a', [final('Done.', report(1))])
      .build()
      .run('go');
    expect(reported.steps.at(0)?.modelCall).toEqual(report(1));
  });

  it('has the own call of each try, in the step and in StepFailed', async () => {
    const events: AgentEvent[] = [];
    const steps = [
      error(overloaded, report(1)),
      error(overloaded, report(2)),
      final('a', report(3)),
    ];
    const agent = builder('a', steps).withErrorPolicy(retrying).build();
    const state = await agent.run('go', { wiretap: (event) => events.push(event) });
    expect([...state.steps].map(({ modelCall }) => modelCall?.requestId)).toEqual([
      'req_1',
      'req_2',
      'req_3',
    ]);
    expect(state.steps.at(0)?.errors[0]).toMatchObject({ code: 'overloaded', requestId: 'req_1' });
    const failed = events.filter(({ type }) => type === 'StepFailed');
    expect(failed).toMatchObject([
      { modelCall: report(1), error: { requestId: 'req_1' } },
      { modelCall: report(2), error: { requestId: 'req_2' } },
    ]);
  });

  it('has the model that answered after a fallback, and that of the failed call', async () => {
    const one = DeterministicDriver.create([error(overloaded, report(1))], { name: 'one' });
    const two = DeterministicDriver.create([final('Done.', report(2))], { name: 'two' });
    const agent = AgentBuilder.base().withModel(one).withFallback(two).build();
    const state = await agent.run('go');
    expect(state.steps.at(0)).toMatchObject({ model: 'one', modelCall: report(1) });
    expect(state.steps.at(1)).toMatchObject({ model: 'two', modelCall: report(2) });
  });

  it('is that of the last call if a hook calls the model again', async () => {
    const again: Hook = {
      name: 'again',
      aroundModelCall: async (request, next) => {
        await next(request);
        return next(request);
      },
    };
    const answered = [final('One.', report(1)), final('Two.', { requestId: 'req_2' })];
    const state = await builder('a', answered).withHooks(again).build().run('go');
    expect(state.steps.at(0)?.modelCall).toEqual({ requestId: 'req_2' });
    const failing = [final('One.', report(1)), error(overloaded, { requestId: 'req_2' })];
    const failed = await builder('a', failing).withHooks(again).build().run('go');
    expect(failed.steps.at(0)?.modelCall).toEqual({ requestId: 'req_2' });
  });

  it('is what the model reported, whatever a hook makes of the answer', async () => {
    const changes: Hook = {
      name: 'changes',
      aroundModelCall: async (request, next) => ({
        ...(await next(request)),
        model: 'mine',
        requestId: 'mine',
      }),
    };
    const throws: Hook = {
      name: 'throws',
      aroundModelCall: async (request, next) => {
        await next(request);
        throw new Error('no');
      },
    };
    for (const hook of [changes, throws]) {
      const agent = builder('a', [final('One.', report(1))])
        .withHooks(hook)
        .build();
      expect((await agent.run('go')).steps.at(0)?.modelCall).toEqual(report(1));
    }
  });

  it('of a refusal and of an empty answer is kept', async () => {
    const refused = final('', { ...report(1), refusal: 'No.' });
    const empty = final('', { ...report(2), finishReason: 'error' });
    for (const step of [refused, empty]) {
      const state = await builder('a', [step]).build().run('go');
      expect(state.steps.at(0)).toMatchObject({ type: 'error' });
      expect(state.steps.at(0)?.modelCall?.requestId).toBe(step.extras.requestId);
      expect(state.steps.at(0)?.errors[0]?.requestId).toBe(step.extras.requestId);
    }
  });

  it('holds no secret of the answer', async () => {
    const secret = 'sk-proj-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4';
    const reported = { model: secret, requestId: secret, warnings: [`got ${secret}`] };
    const events: AgentEvent[] = [];
    for (const step of [final('Done.', reported), error(overloaded, reported)]) {
      const state = await builder('a', [step])
        .build()
        .run('go', { wiretap: (event) => events.push(event) });
      expect(JSON.stringify([state, events])).not.toContain('sk-proj');
    }
  });
});

describe('the time to the first token', () => {
  const stream = { wiretap: () => {} };

  it('counts from the request to the first part of the answer, not to a report of usage', async () => {
    const clock = fakeClock();
    const driver = timed(
      clock,
      [100, { type: 'usage', usage: { input: 10 } }],
      [150, { type: 'reasoning', text: 'Hm.' }],
      [500, { type: 'content', text: 'Hi.' }],
      [0, done('Hi.')],
    );
    const run = AgentBuilder.base().withClock(clock).withDriver(driver).build().run('go', stream);
    for (let i = 0; i < 10; i++) await clock.advance(100);
    expect((await run).steps.at(0)?.modelCall).toEqual({ firstTokenMs: 250 });
  });

  it('does not contain the wait before a retry', async () => {
    const clock = fakeClock();
    let calls = 0;
    const good = timed(clock, [70, { type: 'content', text: 'Hi.' }], [0, done('Hi.')]);
    const bad = DeterministicDriver.fromSteps(error({ ...overloaded, retryAfterMs: 5_000 }));
    const driver: InferenceDriver = {
      ...good,
      stream: (request, options) => (calls++ ? good : bad).stream!(request, options),
    };
    const agent = AgentBuilder.base()
      .withClock(clock)
      .withDriver(driver)
      .withErrorPolicy(ErrorPolicy.retryAll(2))
      .build();
    const run = agent.run('go', stream);
    for (let i = 0; i < 60; i++) await clock.advance(100);
    expect((await run).steps.at(1)?.modelCall?.firstTokenMs).toBe(70);
  });

  it('is kept if an abort ends the answer in the middle', async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const driver = timed(
      clock,
      [40, { type: 'content', text: 'Half' }],
      [10_000, { type: 'content', text: ' never' }],
    );
    const agent = AgentBuilder.base().withClock(clock).withDriver(driver).build();
    const run = agent.run('go', { ...stream, signal: controller.signal });
    for (let i = 0; i < 5; i++) await clock.advance(20);
    controller.abort();
    const state = await run;
    expect(state.steps.at(0)).toMatchObject({ type: 'cut', modelCall: { firstTokenMs: 40 } });
    expect(AgentState.from(JSON.parse(JSON.stringify(state))).steps.at(0)?.modelCall).toEqual({
      firstTokenMs: 40,
    });
  });
});

describe('modelUsage', () => {
  const usage = (input: number) => ({ usage: { input, output: 1, total: input + 1 } });

  it('is the call alone where nested agents work, and absent elsewhere', async () => {
    const child = builder('helper', [final('42', usage(1_000))]).build();
    const root = builder(
      'root',
      [toolCall('help', ask, '', usage(10)), final('Done.', usage(20))],
      asTool(child),
    ).build();
    const state = await root.run('go');
    const [first, second] = state.steps;
    expect(first?.usage).toMatchObject({ input: 1_010, output: 2, total: 1_012 });
    expect(first?.modelUsage).toMatchObject({ input: 10, output: 1, total: 11 });
    expect(second).not.toHaveProperty('modelUsage');
    expect(AgentState.from(JSON.parse(JSON.stringify(state))).steps.at(0)?.modelUsage).toEqual(
      first?.modelUsage,
    );
  });

  it('survives a pause in the nested agent', async () => {
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const child = builder(
      'helper',
      [toolCall('pay', {}, '', usage(500)), final('42', usage(700))],
      pay,
    ).build();
    const root = builder(
      'root',
      [toolCall('help', ask, '', { ...usage(10), ...report(1) }), final('Done.', usage(20))],
      asTool(child),
    ).build();
    const paused = await root.run('go');
    const stored = AgentState.from(JSON.parse(JSON.stringify(paused)));
    expect(stored.unfinishedStep?.modelCall).toEqual(report(1));
    const callId = stored.pendingApprovals[0]!.callId;
    const state = await root.resume(stored, { approvals: { [callId]: { approve: true } } });
    expect(state.steps.at(0)?.usage).toMatchObject({ input: 1_210 });
    expect(state.steps.at(0)?.modelUsage).toMatchObject({ input: 10 });
    expect(state.steps.at(0)?.modelCall).toEqual(report(1));
  });
});
