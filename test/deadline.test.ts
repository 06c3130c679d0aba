import {
  AgentBuilder,
  ErrorPolicy,
  pairingProblem,
  sessionTimeLimit,
  type AgentEvent,
} from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { never } from './setup/abort-trap.ts';
import { takesAnotherTurn } from './setup/states.ts';
import { during, HOUR, setUp } from './setup/time.ts';

const { toolCall, toolCalls, final, error } = ScenarioStep;

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

  it('ends the wait of an agent that runs as a tool, in a cut step with the outcome', async () => {
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

describe('the deadline', () => {
  it('cuts a hanging model call as time_limit, not as an error', async () => {
    const clock = fakeClock();
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(final('', { hangs: true })))
      .withTimeout({ seconds: 10 })
      .withClock(clock)
      .build();
    const running = agent.run('go');
    await clock.advance(10_000);
    const state = await running;
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    expect(state.steps.at(-1)).toMatchObject({ type: 'cut', errors: [], durationMs: 10_000 });
    expect(clock.pendingTimers).toBe(0);
    await takesAnotherTurn(state);
  });

  it('seals hanging tools with timeout', async () => {
    const clock = fakeClock();
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCalls([{ name: 'quick' }, { name: 'hung' }])))
      .withTools(
        mockTool('quick', 'ok'),
        mockTool('hung', () => never),
      )
      .withTimeout({ seconds: 10 })
      .withClock(clock)
      .build();
    const running = agent.run('go');
    await clock.advance(10_000);
    const state = await running;
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    expect(state.steps.at(-1)!.results).toMatchObject([
      { kind: 'ok', value: 'ok' },
      { kind: 'timeout', value: 'Not finished: the time limit was reached.' },
    ]);
    expect(state.steps.at(-1)!.errors).toEqual([]);
    await takesAnotherTurn(state);
  });
});
