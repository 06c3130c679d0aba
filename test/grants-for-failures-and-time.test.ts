import { AgentBuilder, ErrorPolicy } from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { failure, pages } from './setup/grants.ts';

const { toolCall, final, error } = ScenarioStep;

describe('retries after a grant', () => {
  const again = (script: readonly ScenarioStep[], policy: ErrorPolicy) => {
    const driver = DeterministicDriver.create(script);
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTools(mockTool('search', new Error('offline')), mockTool('fine'))
      .withErrorPolicy(policy.withBackoff({ initialMs: 0 }))
      .build();
    return { driver, agent };
  };

  it.each<[number, number]>([
    [1, 1],
    [2, 2],
    [3, 3],
  ])('a grant of %d retries allows %d more tries', async (retries, tries) => {
    const { driver, agent } = again(Array(9).fill(failure), ErrorPolicy.retryToolErrors(1));
    const state = await agent.run('go');
    expect(driver.requests.length).toBe(2);
    const reopened = await agent.resume(state, { grant: { retries } });
    expect(driver.requests.length).toBe(2 + tries);
    expect(reopened).toMatchObject({ status: 'failed', stopReason: 'retry_limit' });
    expect(reopened.lastContinuationOutcome?.decisive?.context).toMatchObject({
      consecutiveFailures: 2 + tries,
      maxRetries: 1 + retries,
    });
  });

  it('keeps the counters, and a clean step resets them', async () => {
    const { driver, agent } = again(
      [failure, failure, toolCall('fine'), failure, failure, failure, failure],
      ErrorPolicy.retryToolErrors(1),
    );
    const state = await agent.run('go');
    const reopened = await agent.resume(state, { grant: { retries: 1 } });
    expect(driver.requests.length).toBe(6);
    expect(reopened.execution).toMatchObject({ consecutiveFailures: 3, totalFailures: 5 });
    expect(reopened.stopReason).toBe('retry_limit');
  });

  it('the policy still stops on a later failure', async () => {
    const { driver, agent } = again(
      [toolCall('search'), toolCall('search')],
      ErrorPolicy.stopOnAnyError(),
    );
    const state = await agent.run('go');
    const reopened = await agent.resume(state, { grant: { retries: 5 } });
    expect(driver.requests.length).toBe(2);
    expect(reopened).toMatchObject({ status: 'failed', stopReason: 'error' });
  });

  it('an error that is not retryable is retried once per grant', async () => {
    const refused = error({ type: 'model', code: 'auth', message: '401', retryable: false });
    const { driver, agent } = again([refused, refused, final('done')], ErrorPolicy.retryAll());
    let state = await agent.run('go');
    expect(state).toMatchObject({ stopReason: 'error', stepCount: 1 });
    state = await agent.resume(state, { grant: { retries: 1 } });
    expect(state).toMatchObject({ stopReason: 'error', stepCount: 2 });
    state = await agent.resume(state, { grant: { retries: 1 } });
    expect(state).toMatchObject({ stopReason: 'completed', output: 'done' });
    expect([...state.steps].map((s) => s.attempt)).toEqual([1, 2, 3]);
    expect(driver.remaining).toBe(0);
  });

  it('a retried model call sends the same messages', async () => {
    const { driver, agent } = again([failure, final('done')], ErrorPolicy.stopOnAnyError());
    const state = await agent.run('go');
    await agent.resume(state, { grant: { retries: 1 } });
    expect(driver.requests.map((r) => r.messageCount)).toEqual([1, 1]);
  });

  it('a tool that fails in an interrupted step needs no retry grant', async () => {
    const clock = fakeClock();
    const driver = DeterministicDriver.create(
      [ScenarioStep.toolCalls([{ name: 'breaks' }, { name: 'hangs' }]), final('done')],
      { clock },
    );
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTools(
        mockTool('breaks', new Error('offline')),
        mockTool('hangs', () => new Promise(() => {})),
      )
      .withTimeout({ seconds: 10 })
      .withClock(clock)
      .build();
    const run = agent.run('go');
    await clock.advance(10_000);
    const state = await run;
    expect(state).toMatchObject({ stopReason: 'time_limit' });
    expect(state.execution).toMatchObject({ consecutiveFailures: 0, totalFailures: 0 });
    expect(state.lastContinuationOutcome?.evaluationFor('ErrorPolicyCriterion')?.decision).toBe(
      'allow',
    );
    expect(await agent.resume(state, { grant: { seconds: 5 } })).toMatchObject({ output: 'done' });
  });
});

describe('time after a grant', () => {
  it('each resumed run has exactly the granted seconds', async () => {
    const clock = fakeClock();
    const hangs = final('', { hangs: true });
    const driver = DeterministicDriver.create([hangs, hangs, hangs], { clock });
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTimeout({ seconds: 10 })
      .withClock(clock)
      .build();
    const run = agent.run('go');
    await clock.advance(10_000);
    let state = await run;

    for (const seconds of [5, 3]) {
      clock.jump(86_400_000);
      let isOver = false;
      const resumed = agent.resume(state, { grant: { seconds } });
      void resumed.then(() => (isOver = true));
      await clock.advance(seconds * 1_000 - 1);
      expect(isOver).toBe(false);
      await clock.advance(1);
      state = await resumed;
      expect(state.stopReason).toBe('time_limit');
      expect(state.lastContinuationOutcome?.decisive?.context).toEqual({
        used: seconds,
        limit: seconds,
      });
    }
    expect(state.execution).toMatchObject({ grants: { seconds: 8 }, cumulativeSeconds: 18 });
  });

  it('retries at once after a grant if the run stopped because the wait was too long', async () => {
    const clock = fakeClock();
    const driver = DeterministicDriver.create(
      [error({ type: 'rate_limit', message: '429', retryAfterMs: 25_000 }), final('done')],
      { clock },
    );
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTimeout({ seconds: 20 })
      .withErrorPolicy(ErrorPolicy.retryAll())
      .withClock(clock)
      .build();
    const state = await agent.run('go');
    expect(state.stopReason).toBe('time_limit');
    const reopened = await agent.resume(state, { grant: { seconds: 5 } });
    expect(reopened).toMatchObject({ status: 'completed', output: 'done' });
    expect(reopened.execution.cumulativeSeconds).toBe(0);
  });

  it('granted seconds are added to the limit of the working time', async () => {
    const clock = fakeClock();
    const driver = DeterministicDriver.create(pages(3), { clock });
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTools(mockTool('search', () => clock.jump(6_000)))
      .withCumulativeTimeout({ seconds: 10 })
      .withClock(clock)
      .build();
    const state = await agent.run('go');
    expect(state.lastContinuationOutcome?.decisive?.context).toEqual({ used: 12, limit: 10 });
    const reopened = await agent.resume(state, { grant: { seconds: 5 } });
    expect(reopened.lastContinuationOutcome?.decisive?.context).toEqual({ used: 18, limit: 15 });
  });
});
