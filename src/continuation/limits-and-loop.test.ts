import { describe, expect, it } from 'vitest';
import { asked, runView, stepView, START_MS } from '../../test/setup/run-view.ts';
import { ContinuationCriteria } from './continuation-criteria.ts';
import type { ContinuationCriterion } from './criterion.ts';
import type { ContinuationDecision } from './decision.ts';
import { executionTimeLimit, sessionTimeLimit } from './criteria/time-limit.ts';
import { noProgressLimit } from './criteria/no-progress-limit.ts';
import { sessionStepsLimit, stepsLimit } from './criteria/steps-limit.ts';
import { tokenUsageLimit } from './criteria/token-usage-limit.ts';
import { StopReason } from './stop-reason.ts';

const now = START_MS;

const saying = (
  name: string,
  decision: ContinuationDecision,
  more: Partial<ContinuationCriterion> = {},
): ContinuationCriterion => ({ name, evaluate: () => decision, ...more });

describe('limits in the loop', () => {
  const reserve = { tokens: 2_000, seconds: 20 };

  it('landing names the limit that allows one more step, else null', () => {
    const criteria = ContinuationCriteria.from(stepsLimit(5), tokenUsageLimit(10_000));
    const at = (answeredSteps: number, total: number) =>
      criteria.landing(runView({ execution: { answeredSteps, usage: { total } } }), now, reserve);
    expect(at(3, 0)).toBeNull();
    expect(at(4, 0)).toBe('StepsLimit');
    expect(at(0, 7_999)).toBeNull();
    expect(at(0, 8_000)).toBe('TokenUsageLimit');
    expect(at(4, 8_000)).toBe('TokenUsageLimit');
  });

  it('landing picks among several limits by stop reason, then by list order', () => {
    const due = runView({
      executionStartedAt: '2026-01-16T11:55:00.000Z',
      execution: { answeredSteps: 4 },
      info: { answeredSteps: 4 },
    });
    const steps = ContinuationCriteria.from(stepsLimit(5), sessionStepsLimit(5));
    expect(steps.landing(due, now, reserve)).toBe('StepsLimit');
    expect(steps.with(executionTimeLimit({ seconds: 310 })).landing(due, now, reserve)).toBe(
      'ExecutionTimeLimit',
    );
  });

  it('remainingMs returns the nearest deadline, Infinity without one', () => {
    const view = runView({
      executionStartedAt: '2026-01-16T11:59:50.000Z',
      info: { cumulativeExecutionSeconds: 97 },
    });
    const wall = executionTimeLimit({ seconds: 30 });
    expect(ContinuationCriteria.from(stepsLimit(5)).remainingMs(view, now)).toBe(Infinity);
    expect(ContinuationCriteria.from(wall).remainingMs(view, now)).toBe(20_000);
    expect(
      ContinuationCriteria.from(wall, sessionTimeLimit({ seconds: 100 })).remainingMs(view, now),
    ).toBe(3_000);
  });

  it('budget describes the usage of every limit', () => {
    const view = runView({
      steps: [stepView()],
      executionStartedAt: '2026-01-16T11:59:30.000Z',
      execution: { answeredSteps: 3, usage: { total: 1_200 }, grants: { steps: 5 } },
    });
    const criteria = ContinuationCriteria.from(
      stepsLimit(20),
      tokenUsageLimit(5_000),
      executionTimeLimit({ seconds: 300 }),
      noProgressLimit(3),
      saying('Ordinary', 'request'),
    );
    expect(criteria.budget(view, now)).toEqual([
      '3 of 25 steps',
      '1200 of 5000 tokens',
      '30 of 300 seconds',
      '0 of 3 identical calls in a row',
    ]);
  });

  it('a used-up limit forbids while work is pending and allows otherwise', () => {
    const limit = stepsLimit(5);
    const spent = runView({ execution: { answeredSteps: 5 } });
    expect(limit.evaluate(spent, asked())).toMatchObject({
      decision: 'forbid',
      stopReason: StopReason.StepsLimitReached,
    });
    expect(limit.evaluate(spent, asked({ workPending: false }))).toMatchObject({
      decision: 'allow',
    });
  });
});
