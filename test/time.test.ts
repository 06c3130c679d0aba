import {
  AgentBuilder,
  AgentState,
  ErrorPolicy,
  pairingProblem,
  sessionTimeLimit,
  type AgentEvent,
  type AgentStateJSON,
} from 'onward';
import {
  DeterministicDriver,
  fakeClock,
  mockTool,
  ScenarioStep,
  type FakeClock,
} from 'onward/testing';
import { describe, expect, it } from 'vitest';

const { toolCall, toolCalls, final, error } = ScenarioStep;

const START = '2026-01-16T12:00:00.000Z';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

function setUp(script: readonly ScenarioStep[]) {
  const clock = fakeClock(START);
  const driver = DeterministicDriver.create(script, { clock });
  const takes = (name: string, ms: number, spec = {}) =>
    mockTool(
      name,
      () => new Promise((resolve) => clock.after(ms, () => resolve(`took ${ms}`))),
      spec,
    );
  const builder = AgentBuilder.base()
    .withDriver(driver)
    .withTools(
      takes('work5', 5_000),
      takes('work3', 3_000, { needsApproval: true }),
      mockTool('hangs', () => new Promise(() => {}), { timeoutMs: 10 * HOUR }),
      mockTool('quick', 'done at once'),
    )
    .withClock(clock);
  return { clock, driver, builder };
}

/** Lets the clock run while the agent works. */
async function during<T>(clock: FakeClock, ms: number, run: Promise<T>): Promise<T> {
  await clock.advance(ms);
  return run;
}

const stored = (state: AgentState): AgentState =>
  AgentState.from(JSON.parse(JSON.stringify(state)));

const timeVoice = (state: AgentState) =>
  state.lastContinuationOutcome?.evaluationFor('ExecutionTimeLimit');

describe('three clocks', () => {
  it('a fresh execution: the session’s start, the execution’s start, no time used', async () => {
    const { builder, clock } = setUp([final('hi', { delayMs: 2_000 })]);
    const session = AgentState.empty({ now: clock.now() });
    clock.jump(HOUR);
    const state = await during(clock, 2_000, builder.build().run(session.withUserMessage('hi')));
    expect(state.info.startedAt).toBe(START);
    expect(state.executionStartedAt).toBe('2026-01-16T13:00:00.000Z');
    expect(state.execution.startedAt).toBe('2026-01-16T13:00:00.000Z');
    expect(state.execution.cumulativeSeconds).toBe(2);
    expect(timeVoice(state)?.context).toEqual({ used: 2, limit: 300 });
  });

  it.each<[string, number]>([
    ['a minute', 60_000],
    ['a day', DAY],
    ['a week', WEEK],
  ])('a second turn after %s starts fresh and does not time out', async (_span, ms) => {
    for (const between of [(s: AgentState) => s, stored]) {
      const { builder, clock } = setUp([final('one'), toolCall('quick'), final('two')]);
      const agent = builder.withTimeout({ seconds: 30 }).build();
      const first = await agent.run('hi');
      clock.jump(ms);
      const second = await agent.run(between(first).withUserMessage('again'));
      expect(second).toMatchObject({ status: 'completed', output: 'two' });
      expect(timeVoice(second)?.context).toEqual({ used: 0, limit: 30 });
      expect(Date.parse(second.executionStartedAt!)).toBe(clock.now());
      expect(second.info.startedAt).toBe(START);
    }
  });

  it('executionStartedAt is written for debugging and never restored', async () => {
    const { builder } = setUp([final('one'), final('two')]);
    const agent = builder.build();
    const state = await agent.run('hi');
    const json = JSON.parse(JSON.stringify(state)) as AgentStateJSON;
    expect(json.executionStartedAt).toBe(START);
    const restored = AgentState.from(json);
    expect(restored.executionStartedAt).toBeNull();
    expect((await agent.run(restored.withUserMessage('next'))).executionStartedAt).toBe(START);
  });

  it('an open execution that is restored a week later has all its time again', async () => {
    const { builder, clock } = setUp([toolCall('quick'), toolCall('quick'), final('done')]);
    const agent = builder.withTimeout({ seconds: 30 }).build();
    const open = await agent.nextStep('go');
    clock.jump(WEEK);
    const resumed = await agent.resume(stored(open));
    expect(resumed).toMatchObject({ status: 'completed', output: 'done' });
    expect(timeVoice(resumed)?.context).toEqual({ used: 0, limit: 30 });
  });

  it('the first nextStep of a restored state starts the wall clock; the next ones let it run', async () => {
    const { builder, clock, driver } = setUp(Array(5).fill(toolCall('quick')));
    const agent = builder.withTimeout({ seconds: 30 }).build();
    let state = await agent.nextStep('go');
    clock.jump(DAY);
    const dayLater = new Date(clock.now()).toISOString();
    state = await agent.nextStep(stored(state));
    expect(state.executionStartedAt).toBe(dayLater);
    clock.jump(20_000);
    state = await agent.nextStep(state);
    expect(state).toMatchObject({ status: 'in_progress', executionStartedAt: dayLater });
    clock.jump(15_000);
    state = await agent.nextStep(state);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    expect(timeVoice(state)?.context).toEqual({ used: 35, limit: 30 });
    expect(state.steps.at(-1)).toMatchObject({ type: 'cut', durationMs: 0 });
    expect(driver.requests.length).toBe(3);
  });

  it('startedAt never moves: not by turns, pauses, grants or storage', async () => {
    const { builder, clock } = setUp([
      toolCall('work3'),
      ...Array<ScenarioStep>(2).fill(toolCall('quick')),
      final('done'),
      final('next'),
    ]);
    const agent = builder.withMaxSteps(2).build();
    let state = await agent.run('go');
    const seen = [state.info.startedAt];
    clock.jump(HOUR);
    state = await during(
      clock,
      3_000,
      agent.resume(stored(state), { approvals: { call_1: { approve: true } } }),
    );
    seen.push(state.info.startedAt);
    expect(state.stopReason).toBe('steps_limit');
    clock.jump(DAY);
    state = await agent.resume(state, { grant: { steps: 5 } });
    seen.push(state.info.startedAt);
    state = await agent.run(stored(state).withUserMessage('next'));
    seen.push(state.info.startedAt);
    expect(seen).toEqual([START, START, START, START]);
  });
});

describe('working time', () => {
  it('is the sum of the steps’ durations and waits, for the execution and for the session', async () => {
    const { builder, clock } = setUp([
      toolCall('work5'),
      error({ type: 'rate_limit', message: '429', retryAfterMs: 4_000 }, { delayMs: 1_000 }),
      toolCall('work5', {}, '', { delayMs: 500 }),
      final('done', { delayMs: 250 }),
    ]);
    const agent = builder.withErrorPolicy(ErrorPolicy.retryAll()).build();
    const state = await during(clock, HOUR, agent.run('go'));
    expect([...state.steps].map((s) => s.durationMs)).toEqual([5_000, 1_000, 5_500, 250]);
    const sum = [...state.steps].reduce((ms, s) => ms + s.durationMs + (s.waitedMs ?? 0), 0);
    expect(sum).toBe(15_750);
    expect(state.execution.cumulativeSeconds).toBe(15.75);
    expect(state.info.cumulativeExecutionSeconds).toBe(15.75);
  });

  it('work 5 s, pause an hour, work 3 s more: 8 s', async () => {
    for (const between of [(s: AgentState) => s, stored]) {
      const { builder, clock } = setUp([
        toolCalls([{ name: 'work5' }, { name: 'work3' }]),
        final('done'),
      ]);
      const agent = builder.build();
      const paused = await during(clock, 5_000, agent.run('go'));
      expect(paused.status).toBe('paused');
      expect(paused.execution.cumulativeSeconds).toBe(5);
      clock.jump(HOUR);
      const state = await during(
        clock,
        3_000,
        agent.resume(between(paused), { approvals: { call_2: { approve: true } } }),
      );
      expect(state.output).toBe('done');
      expect(state.execution.cumulativeSeconds).toBe(8);
      expect(state.info.cumulativeExecutionSeconds).toBe(8);
      expect(state.steps.at(0)?.durationMs).toBe(8_000);
      expect(Date.parse(state.executionStartedAt!)).toBe(Date.parse(START) + 5_000 + HOUR);
    }
  });

  it('a new execution starts at 0, the session goes on', async () => {
    const { builder, clock } = setUp([
      toolCall('work5'),
      final('a'),
      toolCall('work5'),
      final('b'),
    ]);
    const agent = builder.build();
    const first = await during(clock, 5_000, agent.run('go'));
    const second = await during(clock, 5_000, agent.run(first.withUserMessage('again')));
    expect(second.execution.cumulativeSeconds).toBe(5);
    expect(second.info.cumulativeExecutionSeconds).toBe(10);
  });

  it('addExecutionTime counts for both', () => {
    const state = AgentState.empty().addExecutionTime(2.5).addExecutionTime(1);
    expect(state.execution.cumulativeSeconds).toBe(3.5);
    expect(state.info.cumulativeExecutionSeconds).toBe(3.5);
  });

  it('old documents without the fields load as 0', async () => {
    const { builder, clock } = setUp([final('a'), toolCall('work5'), final('b')]);
    const agent = builder.build();
    const json = JSON.parse(JSON.stringify(await agent.run('go'))) as {
      info: Record<string, unknown>;
      execution: Record<string, unknown>;
    };
    delete json.info['cumulativeExecutionSeconds'];
    delete json.execution['cumulativeSeconds'];
    const old = AgentState.from(json as never);
    expect(old.info.cumulativeExecutionSeconds).toBe(0);
    expect(old.execution.cumulativeSeconds).toBe(0);
    const next = await during(clock, 5_000, agent.run(old.withUserMessage('again')));
    expect(next.info.cumulativeExecutionSeconds).toBe(5);
  });

  it('an agent that runs as a tool counts once, through its parent’s step', async () => {
    const { builder, clock } = setUp([toolCall('work5'), final('child done')]);
    const child = builder.withName('child').build();
    const parent = AgentBuilder.base()
      .withDriver(
        DeterministicDriver.fromSteps(toolCall('child', { input: 'do it' }), final('done')),
      )
      .withTools(child.asTool({ name: 'child', description: 'Does it.' }))
      .withClock(clock)
      .build();
    const state = await during(clock, 5_000, parent.run('go'));
    expect(state.output).toBe('done');
    expect(state.execution.cumulativeSeconds).toBe(5);
  });
});

describe('which limit binds', () => {
  it('by default the wall clock, 300 seconds', () => {
    const { builder } = setUp([]);
    expect(builder.build().describe().limits).toMatchObject({ ExecutionTimeLimit: 300 });
  });

  it('withCumulativeTimeout takes its place, withTimeout takes it back', () => {
    const { builder } = setUp([]);
    const cumulative = builder.withCumulativeTimeout({ seconds: 60 });
    expect(cumulative.build().describe().limits).toEqual({
      StepsLimit: 20,
      CumulativeExecutionTimeLimit: 60,
    });
    expect(cumulative.withTimeout({ seconds: 90 }).build().describe().limits).toEqual({
      StepsLimit: 20,
      ExecutionTimeLimit: 90,
    });
  });

  it.each<[string, (b: AgentBuilder, limit: never) => AgentBuilder]>([
    ['withTimeout', (b, limit) => b.withTimeout(limit)],
    ['withCumulativeTimeout', (b, limit) => b.withCumulativeTimeout(limit)],
  ])('%s refuses what is no time', (_method, set) => {
    const { builder } = setUp([]);
    for (const limit of [{ seconds: 0 }, { seconds: -5 }, { seconds: Number.NaN }, {}, 300, null])
      expect(() => set(builder, limit as never)).toThrowError(
        expect.objectContaining({ code: 'invalid_option' }),
      );
  });

  it('a pause does not use up working time, and does restart the wall clock', async () => {
    for (const limit of ['withTimeout', 'withCumulativeTimeout'] as const) {
      const { builder, clock } = setUp([
        toolCalls([{ name: 'work5' }, { name: 'work3' }]),
        final('done'),
      ]);
      const agent = builder[limit]({ seconds: 8.5 }).build();
      const paused = await during(clock, 5_000, agent.run('go'));
      clock.jump(HOUR);
      const state = await during(
        clock,
        3_000,
        agent.resume(paused, { approvals: { call_2: { approve: true } } }),
      );
      expect(state.stopReason).toBe('completed');
      expect(state.lastContinuationOutcome?.evaluations[1]?.context).toEqual(
        limit === 'withTimeout' ? { used: 3, limit: 8.5 } : { used: 8, limit: 8.5 },
      );
    }
  });

  it('the session’s time is counted over all turns', async () => {
    const { builder, clock } = setUp([toolCall('work5'), final('a'), toolCall('work5')]);
    const agent = builder.addContinuationCriteria(sessionTimeLimit({ seconds: 10 })).build();
    const first = await during(clock, 5_000, agent.run('go'));
    expect(first.stopReason).toBe('completed');
    clock.jump(WEEK);
    const second = await during(clock, 5_000, agent.run(first.withUserMessage('again')));
    expect(second.lastContinuationOutcome).toMatchObject({
      stopReason: 'time_limit',
      resolvedBy: 'SessionTimeLimit',
    });
  });
});

describe('D52: the deadline', () => {
  it.each<[string, (b: AgentBuilder) => AgentBuilder, string]>([
    ['withTimeout', (b) => b.withTimeout({ seconds: 30 }), 'ExecutionTimeLimit'],
    [
      'withCumulativeTimeout',
      (b) => b.withCumulativeTimeout({ seconds: 30 }),
      'CumulativeExecutionTimeLimit',
    ],
    [
      'sessionTimeLimit',
      (b) => b.addContinuationCriteria(sessionTimeLimit({ seconds: 30 })),
      'SessionTimeLimit',
    ],
  ])('%s cuts a hanging model call', async (_which, limited, name) => {
    const { builder, clock, driver } = setUp([final('', { hangs: true })]);
    const run = limited(builder).build().run('go');
    let isOver = false;
    void run.then(() => (isOver = true));
    await clock.advance(29_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    const state = await run;
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    expect(state.lastContinuationOutcome).toMatchObject({ resolvedBy: name });
    expect(state.lastContinuationOutcome?.decisive?.context).toEqual({ used: 30, limit: 30 });
    expect(state.steps.at(-1)).toMatchObject({
      type: 'cut',
      errors: [],
      finishReason: null,
      durationMs: 30_000,
    });
    expect(state.execution).toMatchObject({
      stepCount: 1,
      answeredSteps: 0,
      consecutiveFailures: 0,
      totalFailures: 0,
    });
    expect(driver.requests.length).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('cuts a hanging tool: its call is answered as timeout, what ran beside it is kept', async () => {
    const { builder, clock } = setUp([toolCalls([{ name: 'quick' }, { name: 'hangs' }])]);
    const state = await during(
      clock,
      30_000,
      builder.withTimeout({ seconds: 30 }).build().run('go'),
    );
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    const step = state.steps.at(-1);
    expect(step).toMatchObject({ type: 'cut', errors: [] });
    expect(step?.results.map((r) => [r.kind, r.value])).toEqual([
      ['ok', 'done at once'],
      ['timeout', 'Not finished: the time limit was reached.'],
    ]);
    expect(state.execution).toMatchObject({ answeredSteps: 0, consecutiveFailures: 0 });
    expect(pairingProblem(state.messages)).toBeNull();
  });

  it('tells the hanging tool through its signal', async () => {
    const { builder, clock } = setUp([toolCall('watcher')]);
    const watcher = mockTool('watcher', () => new Promise(() => {}), { timeoutMs: HOUR });
    const run = builder.withTools(watcher).withTimeout({ seconds: 30 }).build().run('go');
    await clock.advance(1_000);
    const { signal } = watcher.contexts[0]!;
    expect(signal.aborted).toBe(false);
    await clock.advance(29_000);
    await run;
    expect(signal.aborted).toBe(true);
  });

  it('keeps the text that had been shown', async () => {
    const { builder, clock } = setUp([
      { ...ScenarioStep.stream(['Half an ', 'answer']), extras: { hangs: true } },
    ]);
    const events: AgentEvent[] = [];
    const agent = builder.withTimeout({ seconds: 30 }).build();
    const state = await during(clock, 30_000, agent.run('go', { wiretap: (e) => events.push(e) }));
    expect(state).toMatchObject({ stopReason: 'time_limit', outputText: 'Half an answer' });
    expect(state.messages.at(-1)).toMatchObject({ role: 'assistant', metadata: { cut: true } });
    expect(events.at(-1)).toMatchObject({ type: 'AgentFinished', stopReason: 'time_limit' });
    expect(events.some((e) => e.type === 'StepFailed')).toBe(false);
  });

  it('is what is left: steps before it have used their part', async () => {
    for (const limit of ['withTimeout', 'withCumulativeTimeout'] as const) {
      const { builder, clock } = setUp([toolCall('work5'), final('', { hangs: true })]);
      const run = builder[limit]({ seconds: 30 }).build().run('go');
      const state = await during(clock, 30_000, run);
      expect(state.stopReason).toBe('time_limit');
      expect([...state.steps].map((s) => [s.type, s.durationMs])).toEqual([
        ['tool_calls', 5_000],
        ['cut', 25_000],
      ]);
    }
  });

  it('a reader of iterate that comes back too late gets no further model call', async () => {
    const { builder, clock, driver } = setUp(Array(5).fill(toolCall('quick')));
    const seen: string[] = [];
    for await (const state of builder.withTimeout({ seconds: 30 }).build().iterate('go')) {
      seen.push(`${state.status} ${state.steps.at(-1)?.type}`);
      await clock.advance(40_000);
    }
    expect(seen).toEqual(['in_progress tool_calls', 'stopped cut']);
    expect(driver.requests.length).toBe(1);
  });

  it('binds an agent that runs as a tool', async () => {
    const { builder, clock } = setUp([final('', { hangs: true })]);
    const child = builder.withName('child').build();
    const parent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('child', { input: 'do it' })))
      .withTools(child.asTool({ name: 'child', description: 'Does it.' }))
      .withClock(clock)
      .withTimeout({ seconds: 30 })
      .build();
    const state = await during(clock, 30_000, parent.run('go'));
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    expect(state.steps.at(-1)?.results.map((r) => r.kind)).toEqual(['timeout']);
    expect(pairingProblem(state.messages)).toBeNull();
  });

  it('ends the wait of an agent that runs as a tool, in a cut step with the verdict', async () => {
    const { builder, clock, driver } = setUp([
      error({ type: 'rate_limit', message: '429', retryAfterMs: 50_000 }),
    ]);
    const child = builder.withName('child').withErrorPolicy(ErrorPolicy.retryAll()).build();
    const parent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('child', { input: 'do it' })))
      .withTools(child.asTool({ name: 'child', description: 'Does it.' }))
      .withClock(clock)
      .withTimeout({ seconds: 30 })
      .build();
    const ofChild: AgentEvent[] = [];
    child.wiretap((event) => ofChild.push(event));
    const state = await during(clock, 30_000, parent.run('go'));
    expect(state).toMatchObject({ stopReason: 'time_limit' });
    expect(state.execution.cumulativeSeconds).toBe(30);
    expect(driver.requests.length).toBe(1);
    expect(ofChild.at(-1)).toMatchObject({
      type: 'AgentFinished',
      stopReason: 'time_limit',
      stepCount: 2,
      outcome: { resolvedBy: 'StopRequestCheck' },
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('an answer that comes in time is not cut, and leaves no timer behind', async () => {
    const { builder, clock } = setUp([final('just in time', { delayMs: 29_999 })]);
    const run = builder.withTimeout({ seconds: 30 }).build().run('go');
    const state = await during(clock, 29_999, run);
    expect(state).toMatchObject({ status: 'completed', output: 'just in time' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('an answer that came too late is still an answer: nothing is left to forbid', async () => {
    const { builder, clock } = setUp([toolCall('jumps'), final('late')]);
    const jumps = mockTool('jumps', () => clock.jump(29_000));
    const agent = builder
      .withTools(jumps)
      .withTimeout({ seconds: 30 })
      .withHooks({
        name: 'lag',
        aroundModelCall: async (request, next) => {
          const response = await next(request);
          if (response.content === 'late') clock.jump(5_000);
          return response;
        },
      })
      .build();
    expect(await agent.run('go')).toMatchObject({ status: 'completed', output: 'late' });
  });
});

describe('looking ahead over a wait', () => {
  const waits = (retryAfterMs: number) => [
    toolCall('work5'),
    error({ type: 'rate_limit', message: '429', retryAfterMs }),
    final('done'),
  ];

  it.each<[string, (b: AgentBuilder) => AgentBuilder, string]>([
    ['wall clock', (b) => b.withTimeout({ seconds: 30 }), 'ExecutionTimeLimit'],
    [
      'working time',
      (b) => b.withCumulativeTimeout({ seconds: 30 }),
      'CumulativeExecutionTimeLimit',
    ],
  ])('%s: a wait that would reach the limit is not begun', async (_which, limited, name) => {
    const { builder, clock, driver } = setUp(waits(25_000));
    const agent = limited(builder).withErrorPolicy(ErrorPolicy.retryAll()).build();
    const state = await during(clock, 5_000, agent.run('go'));
    expect(driver.requests.length).toBe(2);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    expect(state.lastContinuationOutcome?.decisive).toMatchObject({
      criterion: name,
      context: { used: 5, limit: 30, waitMs: 25_000 },
    });
    expect(state.steps.at(-1)).toMatchObject({ type: 'error', waitMs: 25_000 });
  });

  it('a shorter one is waited for', async () => {
    const { builder, clock } = setUp(waits(24_999));
    const agent = builder
      .withTimeout({ seconds: 30 })
      .withErrorPolicy(ErrorPolicy.retryAll())
      .build();
    const state = await during(clock, 29_999, agent.run('go'));
    expect(state).toMatchObject({ status: 'completed', output: 'done' });
    expect(state.execution.cumulativeSeconds).toBe(29.999);
  });
});

describe('D54: the budget note', () => {
  it('tells the model before each step what is used, in the numbers that the limits judge by', async () => {
    const { builder, clock, driver } = setUp([
      toolCall('work5', {}, '', { usage: { input: 100, output: 20 }, cost: 0.01 }),
      final('done'),
    ]);
    const agent = builder
      .withSystemPrompt('You help.')
      .withMaxSteps(8)
      .withMaxTokens(1_000)
      .withMaxCost(0.5)
      .withTimeout({ seconds: 60 })
      .withBudgetNote()
      .build();
    const state = await during(clock, 5_000, agent.run('go'));
    expect(driver.requests.map((r) => r.system)).toEqual([
      'You help.\n\nBudget used so far: 0 of 8 steps; 0 of 1000 tokens; 0 of 0.5 cost units; 0 of 60 seconds. Plan your work so that you finish within it.',
      'You help.\n\nBudget used so far: 1 of 8 steps; 120 of 1000 tokens; 0.01 of 0.5 cost units; 5 of 60 seconds. Plan your work so that you finish within it.',
    ]);
    expect(JSON.stringify(state)).not.toContain('Budget used');
  });

  it('without it the prompt stays as it is', async () => {
    const { builder, driver } = setUp([final('done')]);
    await builder.withSystemPrompt('You help.').build().run('go');
    expect(driver.requests[0]?.system).toBe('You help.');
  });

  it('without limits there is nothing to tell', async () => {
    const driver = DeterministicDriver.fromResponses('done');
    await AgentBuilder.new().withDriver(driver).withBudgetNote().build().run('go');
    expect(driver.requests[0]?.system ?? '').toBe('');
  });

  it('granted budget is part of it', async () => {
    const { builder, driver } = setUp([toolCall('quick'), final('done')]);
    const agent = builder.withMaxSteps(1).withBudgetNote().build();
    await agent.resume(await agent.run('go'), { grant: { steps: 4 } });
    expect(driver.requests[1]?.system).toContain('1 of 5 steps');
  });
});
