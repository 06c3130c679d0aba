import { AgentState, createAgent, ErrorPolicy, type AgentEvent } from 'onward';
import { DeterministicDriver, fakeClock, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { limited, setUp } from './setup/error-policy.ts';

const { toolCall, final } = ScenarioStep;

describe('the wait before a retry', () => {
  const noJitter = ErrorPolicy.retryAll().withBackoff({ jitter: 0 });

  it('starts at 500 ms, doubles, uses the clock of the agent and is recorded', async () => {
    const { builder, clock, driver } = setUp(
      [limited(), limited(), limited(), final('done')],
      noJitter,
    );
    const run = builder.build().run('go');
    const sent: [number, number][] = [];
    for (const ms of [499, 1, 999, 1, 1_999, 1]) {
      await clock.advance(ms);
      sent.push([clock.now() - Date.parse('2026-01-16T12:00:00.000Z'), driver.requests.length]);
    }
    expect(sent).toEqual([
      [499, 1],
      [500, 2],
      [1_499, 2],
      [1_500, 3],
      [3_499, 3],
      [3_500, 4],
    ]);
    const state = await run;
    expect([...state.steps].map((s) => [s.waitMs, s.waitedMs])).toEqual([
      [500, undefined],
      [1_000, 500],
      [2_000, 1_000],
      [undefined, 2_000],
    ]);
    expect(state.execution.cumulativeSeconds).toBe(3.5);
    expect(state.info.cumulativeExecutionSeconds).toBe(3.5);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is randomized with the random source of the agent', async () => {
    const clock = fakeClock();
    const agent = createAgent({
      driver: DeterministicDriver.create([limited(), final('done')]),
      errorPolicy: ErrorPolicy.retryAll(),
      clock,
      random: () => 0.5,
    });
    const run = agent.run('go');
    await clock.advance(500);
    expect((await run).steps.at(0)?.waitMs).toBe(375);
  });

  it.each<[number, number, string]>([
    [7_000, 7_000, 'overrides the backoff'],
    [0, 0, 'overrides it with no wait'],
    [3_600_000, 60_000, 'is at most a minute'],
    [-5, 0, 'is never negative'],
  ])('retryAfterMs %d: %d ms (%s)', async (retryAfterMs, waitMs) => {
    const { builder, clock } = setUp([limited({ retryAfterMs }), final('done')], noJitter);
    const run = builder.build().run('go');
    await clock.advance(60_000);
    expect((await run).steps.at(0)?.waitMs).toBe(waitMs);
  });

  it('is reported in StepFailed', async () => {
    const { builder, clock } = setUp([limited({ retryAfterMs: 7_000 }), final('done')]);
    const failed: AgentEvent[] = [];
    const agent = builder.build();
    agent.on('StepFailed', (e) => failed.push(e));
    const run = agent.run('go');
    await clock.advance(7_000);
    await run;
    expect(failed).toMatchObject([
      { stepNumber: 1, attempt: 1, waitMs: 7_000, error: { type: 'rate_limit', message: '429' } },
    ]);
  });

  it('is not set if there is no retry', async () => {
    for (const policy of [ErrorPolicy.stopOnAnyError(), ErrorPolicy.retryAll(0)]) {
      const { builder } = setUp([limited({ retryAfterMs: 5_000 })], policy);
      const state = await builder.build().run('go');
      expect(state.steps.at(-1)).not.toHaveProperty('waitMs');
    }
  });

  it('an abort ends it with an interrupted step that has the time waited and the outcome', async () => {
    const { builder, clock, driver } = setUp([limited({ retryAfterMs: 20_000 }), final('late')]);
    const abort = new AbortController();
    const run = builder.build().run('go', { signal: abort.signal });
    await clock.advance(3_000);
    abort.abort('Mira pressed stop');
    const state = await run;
    expect(driver.requests.length).toBe(1);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect([...state.steps]).toMatchObject([
      { type: 'error', number: 1, attempt: 1, waitMs: 20_000 },
      { type: 'cut', number: 2, attempt: 2, waitedMs: 3_000, durationMs: 0, errors: [] },
    ]);
    expect(state.steps.at(-1)?.outcome).toBe(state.lastContinuationOutcome);
    expect(state.execution).toMatchObject({
      cumulativeSeconds: 3,
      consecutiveFailures: 1,
      answeredSteps: 0,
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('continues with the remaining time after a process died', async () => {
    const { builder, clock, driver } = setUp([limited({ retryAfterMs: 10_000 }), final('done')]);
    const agent = builder.build();
    const open = await agent.nextStep('go');
    clock.jump(4_000);
    const run = agent.resume(AgentState.from(JSON.parse(JSON.stringify(open))));
    await clock.advance(5_999);
    expect(driver.requests.length).toBe(1);
    await clock.advance(1);
    const state = await run;
    expect(state.steps.at(-1)?.waitedMs).toBe(6_000);
    expect(state.execution.cumulativeSeconds).toBe(6);
  });

  it('does not apply to tool errors', async () => {
    const { builder } = setUp([toolCall('breaks'), final('done')], noJitter);
    const state = await builder.build().run('go');
    expect(state.steps.at(0)).not.toHaveProperty('waitMs');
    expect(state.execution.cumulativeSeconds).toBe(0);
  });
});
