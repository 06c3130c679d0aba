import { AgentState, createAgent, ErrorPolicy, type AgentEvent } from 'onward';
import { DeterministicDriver, fakeClock, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { limited, setUp } from './setup/error-policy.ts';

const { toolCall, final } = ScenarioStep;

describe('the wait before the next try', () => {
  const noJitter = ErrorPolicy.retryAll().withBackoff({ jitter: 0 });

  it('half a second, doubled, on the agent’s clock; drawn once and recorded', async () => {
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

  it('is spread by the agent’s random source', async () => {
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
    [7_000, 7_000, 'the provider’s word wins over the backoff'],
    [0, 0, 'also when it says at once'],
    [3_600_000, 60_000, 'but never longer than a minute'],
    [-5, 0, 'and never into the past'],
  ])('retryAfterMs %d: %d ms (%s)', async (retryAfterMs, waitMs) => {
    const { builder, clock } = setUp([limited({ retryAfterMs }), final('done')], noJitter);
    const run = builder.build().run('go');
    await clock.advance(60_000);
    expect((await run).steps.at(0)?.waitMs).toBe(waitMs);
  });

  it('listeners hear how long it will be', async () => {
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

  it('no wait is drawn where there will be no next try', async () => {
    for (const policy of [ErrorPolicy.stopOnAnyError(), ErrorPolicy.retryAll(0)]) {
      const { builder } = setUp([limited({ retryAfterMs: 5_000 })], policy);
      const state = await builder.build().run('go');
      expect(state.steps.at(-1)).not.toHaveProperty('waitMs');
    }
  });

  it('an abort ends it: a cut step with the time really waited and the outcome', async () => {
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

  it('a process that died while waiting waits for the rest only', async () => {
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

  it('tool errors are tried again at once: the model has to think first', async () => {
    const { builder } = setUp([toolCall('breaks'), final('done')], noJitter);
    const state = await builder.build().run('go');
    expect(state.steps.at(0)).not.toHaveProperty('waitMs');
    expect(state.execution.cumulativeSeconds).toBe(0);
  });
});
