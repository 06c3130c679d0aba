import { describe, expect, it } from 'vitest';
import {
  asked,
  errorRecord,
  runView,
  START,
  START_MS,
  stepView,
} from '../../../test/setup/run-view.ts';
import type { ContinuationCriterion } from '../criterion.ts';
import {
  cumulativeExecutionTimeLimit,
  executionTimeLimit,
  sessionTimeLimit,
} from './time-limit.ts';

const DAY_MS = 86_400_000;

describe('ExecutionTimeLimit', () => {
  it('counts 0 seconds while no run is active, even in an old session', () => {
    const view = runView({ executionStartedAt: null });
    expect(
      executionTimeLimit({ seconds: 300 }).evaluate(view, asked({ now: START_MS + 7 * DAY_MS })),
    ).toMatchObject({ decision: 'allow', context: { used: 0, limit: 300 } });
  });

  it('never counts negative time, even if the clock was set back', () => {
    const view = runView({ executionStartedAt: START });
    expect(
      executionTimeLimit({ seconds: 300 }).evaluate(view, asked({ now: START_MS - 5_000 })),
    ).toMatchObject({ context: { used: 0 } });
  });

  it('gives a reopened run exactly the granted seconds, without earlier grants', () => {
    const view = runView({
      executionStartedAt: START,
      execution: { stretchSeconds: 15, grants: { seconds: 60 } },
    });
    const limit = executionTimeLimit({ seconds: 300 });
    const at = (ms: number) => asked({ now: START_MS + ms, grants: { seconds: 60 } });
    expect(limit.evaluate(view, at(14_999))).toMatchObject({ decision: 'allow' });
    expect(limit.evaluate(view, at(15_000))).toMatchObject({
      decision: 'forbid',
      context: { used: 15, limit: 15 },
    });
    expect(limit.remainingMs?.(view, at(5_000))).toBe(10_000);
  });
});

describe('the deadline of a time limit', () => {
  it.each<[string, ContinuationCriterion, number]>([
    ['ExecutionTimeLimit', executionTimeLimit({ seconds: 60 }), 50_000],
    ['CumulativeExecutionTimeLimit', cumulativeExecutionTimeLimit({ seconds: 60 }), 56_000],
    ['SessionTimeLimit', sessionTimeLimit({ seconds: 60 }), 20_000],
  ])('%s returns the time left by its own count', (_name, limit, expected) => {
    const view = runView({
      executionStartedAt: START,
      execution: { cumulativeSeconds: 4 },
      info: { cumulativeExecutionSeconds: 40 },
    });
    expect(limit.remainingMs?.(view, asked({ now: START_MS + 10_000 }))).toBe(expected);
  });

  it('grows by the granted time', () => {
    const view = runView({ execution: { cumulativeSeconds: 4 } });
    const limit = cumulativeExecutionTimeLimit({ seconds: 60 });
    expect(limit.remainingMs?.(view, asked({ grants: { seconds: 10 } }))).toBe(66_000);
  });
});

describe('the wait before a retry', () => {
  const failed = (waitMs: number) =>
    stepView({ type: 'error', finishReason: null, errors: [errorRecord()], waitMs });
  const limits: readonly [string, ContinuationCriterion, string][] = [
    ['ExecutionTimeLimit', executionTimeLimit({ seconds: 60 }), 'seconds'],
    [
      'CumulativeExecutionTimeLimit',
      cumulativeExecutionTimeLimit({ seconds: 60 }),
      'working seconds',
    ],
    ['SessionTimeLimit', sessionTimeLimit({ seconds: 60 }), 'working seconds of the session'],
  ];
  const view = (waitMs: number, handledStep = 0) =>
    runView({
      steps: [failed(waitMs)],
      executionStartedAt: START,
      execution: { cumulativeSeconds: 50, handledStep },
      info: { cumulativeExecutionSeconds: 50 },
    });
  const now = START_MS + 50_000;

  it.each(limits)('%s forbids when elapsed + waitMs reaches it', (_name, limit, words) => {
    expect(limit.evaluate(view(9_999), asked({ now }))).toMatchObject({ decision: 'allow' });
    expect(limit.evaluate(view(10_000), asked({ now }))).toMatchObject({
      decision: 'forbid',
      stopReason: 'time_limit',
      reason: `50 of 60 ${words} used, and the next try would have to wait 10 seconds`,
      context: { used: 50, limit: 60, waitMs: 10_000 },
    });
  });

  it.each(limits)('%s allows when no work is pending', (_name, limit) => {
    expect(limit.evaluate(view(30_000), asked({ now, workPending: false }))).toMatchObject({
      decision: 'allow',
    });
  });

  it.each(limits)('%s ignores the wait of a step that a grant settled', (_name, limit) => {
    expect(limit.evaluate(view(30_000, 1), asked({ now }))).toMatchObject({ decision: 'allow' });
  });
});

describe('sums of fractions', () => {
  it('ten tenths of a second reach a limit of one second', () => {
    let cumulativeSeconds = 0;
    for (let i = 0; i < 10; i++) cumulativeSeconds += 0.1;
    expect(cumulativeSeconds).toBeLessThan(1);
    expect(
      cumulativeExecutionTimeLimit({ seconds: 1 }).evaluate(
        runView({ execution: { cumulativeSeconds } }),
        asked(),
      ),
    ).toMatchObject({ decision: 'forbid' });
  });
});

describe('the unit of time', () => {
  it.each([
    ['executionTimeLimit', executionTimeLimit],
    ['cumulativeExecutionTimeLimit', cumulativeExecutionTimeLimit],
    ['sessionTimeLimit', sessionTimeLimit],
  ])('%s takes { seconds } and rejects a bare number', (_name, make) => {
    for (const limit of [300, null, undefined, {}, { seconds: 0 }, { minutes: 5 }])
      expect(() => make(limit as never)).toThrowError(
        expect.objectContaining({ code: 'invalid_option' }),
      );
  });
});
