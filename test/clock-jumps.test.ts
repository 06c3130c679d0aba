import * as fc from 'fast-check';
import { AgentBuilder, AgentState, ErrorPolicy, type AgentEvent } from 'onward';
import { type Clock, DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { stored } from './setup/states.ts';
import { HOUR, setUp } from './setup/time.ts';

const { toolCall, toolCalls, final, error } = ScenarioStep;
const jumps = [-24 * HOUR, -HOUR, HOUR, 24 * HOUR];

/** Checks that no time is negative or counted twice and that steps and events are in order. */
function checkTimes(state: AgentState, events: readonly AgentEvent[]): void {
  const steps = [...state.steps];
  const worked = steps.reduce((ms, step) => ms + step.durationMs + (step.waitedMs ?? 0), 0);
  expect(state.execution.cumulativeSeconds).toBeCloseTo(worked / 1000, 3);
  for (const { durationMs, waitedMs = 0, results } of steps)
    for (const ms of [durationMs, waitedMs, ...results.map((result) => result.durationMs)])
      expect(ms).toBeGreaterThanOrEqual(0);
  const times = [events.map(({ at }) => at), steps.map(({ startedAt }) => startedAt)];
  for (const list of times) expect(list).toEqual(list.toSorted());
}

describe.each(jumps)('a wall clock that jumps by %d ms', (jump) => {
  it('during a model call, a tool and a wait changes no duration and ends no run', async () => {
    const { builder, clock } = setUp([
      toolCall('work5', {}, '', { delayMs: 1_000 }),
      error({ type: 'rate_limit', message: '429', retryAfterMs: 4_000 }),
      final('done', { delayMs: 500 }),
    ]);
    const agent = builder.withErrorPolicy(ErrorPolicy.retryAll()).withTimeout({ seconds: 20 });
    const events: AgentEvent[] = [];
    const run = agent.build().run('go', { wiretap: (event) => void events.push(event) });
    for (const ms of [500, 2_000, 4_000, 2_500, 1_000, 1_000]) {
      await clock.advance(ms);
      clock.jumpWall(jump);
    }
    const state = await run;
    expect(state.output).toBe('done');
    expect([...state.steps].map((step) => step.durationMs)).toEqual([6_000, 0, 500]);
    expect(state.steps.at(2)?.waitedMs).toBe(4_000);
    expect(state.execution.cumulativeSeconds).toBe(10.5);
    expect(state.steps.at(0)?.results[0]?.durationMs).toBe(5_000);
    const used = state.lastContinuationOutcome?.evaluationFor('ExecutionTimeLimit')?.context;
    expect(used).toMatchObject({ used: 10.5 });
    checkTimes(state, events);
  });

  it.each([
    ['withTimeout', (builder: AgentBuilder) => builder.withTimeout({ seconds: 20 })],
    [
      'withCumulativeTimeout',
      (builder: AgentBuilder) => builder.withCumulativeTimeout({ seconds: 20 }),
    ],
  ])('%s interrupts a hanging tool exactly at its limit', async (_name, limit) => {
    const { builder, clock } = setUp([toolCall('work5'), toolCall('hangs'), final('never')]);
    const run = limit(builder).build().run('go');
    let isOver = false;
    void run.then(() => (isOver = true));
    await clock.advance(7_000);
    clock.jumpWall(jump);
    await clock.advance(12_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    const state = await run;
    expect([state.stopReason, state.execution.cumulativeSeconds]).toEqual(['time_limit', 20]);
  });

  it('does not change the timeout of a tool', async () => {
    const clock = fakeClock();
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('hangs'), final('done')))
      .withTools(mockTool('hangs', () => new Promise(() => {}), { timeoutMs: 10_000 }))
      .withErrorPolicy(ErrorPolicy.retryToolErrors())
      .withClock(clock)
      .build();
    const run = agent.run('go');
    await clock.advance(5_000);
    clock.jumpWall(jump);
    await clock.advance(5_000);
    const state = await run;
    expect(state.output).toBe('done');
    expect(state.steps.at(0)?.results[0]).toMatchObject({ kind: 'timeout', durationMs: 10_000 });
  });

  it('between pause and resume, in this or another process, adds no working time', async () => {
    for (const between of [(state: AgentState) => state, stored]) {
      const { builder, clock } = setUp([
        toolCalls([{ name: 'work5' }, { name: 'work3' }]),
        final('done'),
      ]);
      const agent = builder.withCumulativeTimeout({ seconds: 9 }).build();
      const events: AgentEvent[] = [];
      const wiretap = (event: AgentEvent): void => void events.push(event);
      const run = agent.run('go', { wiretap });
      await clock.advance(5_000);
      const paused = between(await run);
      clock.jumpWall(jump);
      const resumed = agent.resume(paused, { wiretap, approvals: { call_2: { approve: true } } });
      await clock.advance(3_000);
      const state = await resumed;
      expect([state.output, state.execution.cumulativeSeconds]).toEqual(['done', 8]);
      expect(state.info.cumulativeExecutionSeconds).toBe(8);
      checkTimes(state, events);
    }
  });

  it('while a step that waited for a retry is paused counts the wait once', async () => {
    const { builder, clock } = setUp([
      error({ type: 'rate_limit', message: '429', retryAfterMs: 4_000 }),
      toolCalls([{ name: 'work5' }, { name: 'work3' }]),
      final('done'),
    ]);
    const agent = builder.withErrorPolicy(ErrorPolicy.retryAll()).build();
    const run = agent.run('go');
    await clock.advance(4_000);
    await clock.advance(5_000);
    const paused = stored(await run);
    expect([paused.status, paused.execution.cumulativeSeconds]).toEqual(['paused', 9]);
    clock.jumpWall(jump);
    const resumed = agent.resume(paused, { approvals: { call_2: { approve: true } } });
    await clock.advance(3_000);
    const state = await resumed;
    expect([state.output, state.execution.cumulativeSeconds]).toEqual(['done', 12]);
    checkTimes(state, []);
  });

  it('between two manual steps adds no execution time', async () => {
    const { builder, clock } = setUp([toolCall('work5'), toolCall('work5'), final('done')]);
    const agent = builder.withTimeout({ seconds: 13 }).build();
    const step = async (state: AgentState | string): Promise<AgentState> => {
      const next = agent.nextStep(state);
      await clock.advance(5_000);
      return next;
    };
    let state = await step('go');
    clock.jumpWall(jump);
    // a change by the caller does not restart the time limit
    state = await step(state.with({ metadata: { seen: true } }));
    expect(state.status).toBe('in_progress');
    const used = state.lastContinuationOutcome?.evaluationFor('ExecutionTimeLimit')?.context;
    expect(used).toMatchObject({ used: 10 });
    clock.jump(10_000);
    state = await step(state);
    expect(state.execution.cumulativeSeconds).toBe(10);
  });

  it('before the next message does not change the start time of the new run', async () => {
    const { builder, clock } = setUp([final('a'), final('b')]);
    const agent = builder.build();
    const first = await agent.run('go');
    clock.jumpWall(jump);
    const second = await agent.run(first.withUserMessage('again'));
    expect(Date.parse(second.executionStartedAt ?? '')).toBe(clock.now());
    expect(second.stopReason).toBe('completed');
  });

  it('between a failure and the retry in another process never makes the wait longer', async () => {
    const { builder, clock } = setUp([
      error({ type: 'rate_limit', message: '429', retryAfterMs: 4_000 }),
      final('done'),
    ]);
    const agent = builder.withErrorPolicy(ErrorPolicy.retryAll()).build();
    const failed = stored(await agent.nextStep('go'));
    clock.jumpWall(jump);
    const run = agent.resume(failed);
    await clock.advance(4_000);
    const state = await run;
    expect(state.output).toBe('done');
    expect(state.steps.at(1)?.waitedMs ?? 0).toBeLessThanOrEqual(4_000);
    checkTimes(state, []);
  });
});

it('a wall clock that is set back by more than a week makes no wait longer', async () => {
  const { builder, clock } = setUp([
    error({ type: 'rate_limit', message: '429', retryAfterMs: 4_000 }),
    final('done'),
  ]);
  const agent = builder.withErrorPolicy(ErrorPolicy.retryAll()).build();
  const failed = stored(await agent.nextStep('go'));
  clock.jumpWall(-8 * 24 * HOUR);
  const run = agent.resume(failed);
  await clock.advance(4_000);
  expect((await run).steps.at(1)?.waitedMs).toBe(4_000);
});

describe('a clock without monotonic time', () => {
  it('counts no time while it runs backward', async () => {
    let now = Date.parse('2026-01-16T12:00:00.000Z');
    const clock: Clock = { now: () => now, after: () => () => {} };
    const moves = mockTool('moves', ({ ms }: { ms?: number }) => void (now += ms ?? 0));
    const agent = AgentBuilder.base()
      .withDriver(
        DeterministicDriver.fromSteps(
          toolCall('moves', { ms: 2_000 }),
          toolCall('moves', { ms: -HOUR }),
          toolCall('moves', { ms: 3_000 }),
          final('done'),
        ),
      )
      .withTools(moves)
      .withClock(clock)
      .withTimeout({ seconds: 30 })
      .build();
    const state = await agent.run('go');
    expect([...state.steps].map((step) => step.durationMs)).toEqual([2_000, 0, 3_000, 0]);
    expect(state.execution.cumulativeSeconds).toBe(5);
  });
});

it('working time is never negative and never more than the monotonic time that passed', async () => {
  const jump = fc.integer({ min: -48 * HOUR, max: 48 * HOUR });
  const move = fc.record({ ms: fc.integer({ min: 400, max: 4_000 }), jump });
  const step = fc.constantFrom('work5', 'quick', 'work3', 'fails');
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 5 }),
      fc.array(move, { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      async (script, moves, isStored) => {
        const { builder, clock } = setUp([
          ...script.map((name) =>
            name === 'fails' ? error({ type: 'model', message: 'no' }) : toolCall(name),
          ),
          final('done'),
        ]);
        const agent = builder.withErrorPolicy(ErrorPolicy.retryAll(9)).build();
        const events: AgentEvent[] = [];
        const wiretap = (event: AgentEvent): void => void events.push(event);
        const from = clock.monotonic();
        let turn = 0;
        /** Advances the clock and moves the wall clock until the run settles. */
        const rest = async (run: Promise<AgentState>): Promise<AgentState> => {
          let isOver = false;
          void run.finally(() => (isOver = true));
          while (!isOver) {
            const { ms, jump: by } = moves[turn++ % moves.length]!;
            await clock.advance(ms);
            clock.jumpWall(by - (clock.now() - clock.monotonic()));
          }
          return run;
        };
        let state = await rest(agent.run('go', { wiretap }));
        while (state.status === 'paused') {
          const approvals = Object.fromEntries(
            state.pendingApprovals.map(({ callId }) => [callId, { approve: true }] as const),
          );
          const given = isStored ? stored(state) : state;
          state = await rest(agent.resume(given, { approvals, wiretap }));
        }
        const passed = clock.monotonic() - from;
        expect(state.execution.cumulativeSeconds).toBeGreaterThanOrEqual(0);
        expect(state.execution.cumulativeSeconds * 1000).toBeLessThanOrEqual(passed + 1e-3);
        expect(state.stopReason).toBe('completed');
        const steps = [...state.steps];
        for (const { durationMs } of steps) expect(durationMs).toBeGreaterThanOrEqual(0);
        expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).toSorted());
      },
    ),
    { numRuns: 60 },
  );
});
