import { describe, expect, it } from 'vitest';
import { accounts, Log, session, step, outcomeWith } from '../../test/trace/records.ts';
import { traced } from '../../test/trace/traced.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';

describe('totals and the outcome', () => {
  const spent = ContinuationOutcome.from(
    outcomeWith(
      {
        criterion: 'StepsLimit',
        decision: 'forbid',
        reason: 'spent',
        stopReason: 'steps_limit',
        context: { used: 2, limit: 2 },
        remedy: { text: 'more', grant: { steps: 2 } },
      },
      { criterion: 'TokenUsageLimit', decision: 'allow', context: { used: 220, limit: 5_000 } },
      { criterion: 'CostLimit', decision: 'allow', context: { used: 0.02, limit: 0.5 } },
      { criterion: 'ExecutionTimeLimit', decision: 'allow', context: { used: 0.4, limit: 60 } },
      { decision: 'stop', reason: 'the answer asks for no tools' },
    ),
  );

  it('limits come from the evaluations', () => {
    const trace = traced({
      session: session({ status: 'stopped', stopReason: 'steps_limit', outcome: spent }),
      steps: [step(1, 0, 200), step(2, 200, 200, { softLanding: 'StepsLimit' })],
    });
    expect(trace.totals).toMatchObject({
      steps: { used: 2, limit: 2 },
      seconds: { used: 0.4, limit: 60 },
      tokens: { used: 220, limit: 5_000 },
      cost: { used: 0.02, limit: 0.5 },
      inputTokens: 200,
      outputTokens: 20,
    });
    expect(trace.steps.map(({ costSoFar }) => costSoFar)).toEqual([0.01, 0.02]);
    expect(trace.steps[1]?.softLanding).toBe('StepsLimit');
    expect(trace.stop).toMatchObject({
      because: 'it used 2 of 2 steps',
      note: 'It answered with what it had.',
      action: { kind: 'grant', grant: { steps: 2 }, label: 'Continue with 2 more steps' },
    });
    const free = traced({ steps: [step(1, 0, 200)] }).totals;
    expect([free.steps.limit, free.seconds.limit, free.tokens.limit, free.cost.limit]).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });

  it('a restarted wall clock does not limit the working time', () => {
    const trace = traced({
      session: session({ status: 'stopped', stopReason: 'steps_limit', outcome: spent }),
      steps: [step(1, 0, 200)],
      accounts: accounts({ cumulativeSeconds: 30 }),
    });
    expect(trace.totals.seconds).toEqual({ used: 30, limit: null });
  });

  it('a page in the middle starts with the totals before it', () => {
    const trace = traced({
      steps: [step(41, 90_000, 500), step(42, 90_500, 500)],
      stepAfter: step(43, 91_000, 1),
      newestStep: step(60, 99_000, 1, { outcome: spent.toJSON() }),
      accounts: accounts({ stepCount: 60, answeredSteps: 58, cumulativeSeconds: 30 }),
      accountsBefore: accounts({ stepCount: 40, cumulativeSeconds: 20, cost: 0.4 }),
    });
    expect(trace.steps.map(({ at }) => at)).toEqual([20_000, 20_500]);
    expect(trace.steps[0]?.costSoFar).toBeCloseTo(0.41);
    expect(trace).toMatchObject({
      hasEarlier: true,
      outcome: { stopReason: 'steps_limit' },
      totals: { seconds: { used: 30 }, steps: { used: 58 }, failedCalls: 2 },
    });
  });

  it('an older execution shows its own last outcome', () => {
    const trace = traced({
      session: session({ status: 'in_progress', executionId: 'e2' }),
      steps: [step(1, 0, 100, { outcome: spent.toJSON() })],
      events: new Log().started(200, 2).events,
    });
    expect(trace).toMatchObject({ status: 'stopped', outcome: { stopReason: 'steps_limit' } });
    expect(trace.steps).toHaveLength(1);
  });

  it('an outcome before the first step has no steps', () => {
    const trace = traced({
      session: session({ status: 'stopped', stopReason: 'steps_limit', outcome: spent }),
    });
    expect(trace).toMatchObject({ steps: [], outcome: { stopReason: 'steps_limit' } });
    expect(trace.stop?.lead).toBe('Stopped because');
  });

  it('a session without messages has an empty trace', () => {
    const fresh = session({ status: 'pending', executionId: null });
    expect(traced({ session: fresh, executionId: null })).toMatchObject({
      executionId: null,
      status: 'idle',
      steps: [],
      stop: null,
      startedAt: null,
      hasEarlier: false,
    });
  });
});
