import { AgentBuilder, ErrorPolicy, sessionTimeLimit, type AgentEvent } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { never } from './setup/abort-trap.ts';
import { takesAnotherTurn } from './setup/states.ts';
import { during, HOUR, pastDeadline, setUp } from './setup/time.ts';

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
  ])('%s interrupts a hanging model call', async (_which, limited, name) => {
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

  it('interrupts a hanging tool with a timeout result and keeps finished results', async () => {
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
    expect(state.messages.pairingProblem()).toBeNull();
  });

  it('aborts the signal of the hanging tool', async () => {
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

  it('keeps the text that was streamed', async () => {
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

  it('counts the time of earlier steps', async () => {
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

  it('makes no model call if the consumer of iterate() resumes after it', async () => {
    const { builder, clock, driver } = setUp(Array(5).fill(toolCall('quick')));
    const seen: string[] = [];
    for await (const state of builder.withTimeout({ seconds: 30 }).build().iterate('go')) {
      seen.push(`${state.status} ${state.steps.at(-1)?.type}`);
      await clock.advance(40_000);
    }
    expect(seen).toEqual(['in_progress tool_calls', 'stopped cut']);
    expect(driver.requests.length).toBe(1);
  });

  it('applies to a nested agent', async () => {
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
    expect(state.messages.pairingProblem()).toBeNull();
  });

  it('ends the retry wait of a nested agent with an interrupted step and an outcome', async () => {
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

  it('does not interrupt an answer in time, and leaves no timer', async () => {
    const { builder, clock } = setUp([final('just in time', { delayMs: 29_999 })]);
    const run = builder.withTimeout({ seconds: 30 }).build().run('go');
    const state = await during(clock, 29_999, run);
    expect(state).toMatchObject({ status: 'completed', output: 'just in time' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('completes the run if the final answer arrives late', async () => {
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

describe('the deadline of a base agent', () => {
  it('stops a hanging model call with time_limit instead of an error', async () => {
    const driver = DeterministicDriver.fromSteps(final('', { hangs: true }));
    const { state, clock } = await pastDeadline(AgentBuilder.base().withDriver(driver));
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    expect(state.steps.at(-1)).toMatchObject({ type: 'cut', errors: [], durationMs: 10_000 });
    expect(clock.pendingTimers).toBe(0);
    await takesAnotherTurn(state);
  });

  it('closes hanging tool calls as timeout', async () => {
    const driver = DeterministicDriver.fromSteps(toolCalls([{ name: 'quick' }, { name: 'hung' }]));
    const hung = mockTool('hung', () => never);
    const { state } = await pastDeadline(
      AgentBuilder.base().withDriver(driver).withTools(mockTool('quick', 'ok'), hung),
    );
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    expect(state.steps.at(-1)!.results).toMatchObject([
      { kind: 'ok', value: 'ok' },
      { kind: 'timeout', value: 'Not finished: the time limit was reached.' },
    ]);
    expect(state.steps.at(-1)!.errors).toEqual([]);
    await takesAnotherTurn(state);
  });
});
