import { describe, expect, it } from 'vitest';
import { asked, runView } from '../../../test/setup/run-view.ts';
import type { ContinuationEvaluation } from '../evaluation.ts';
import type { StopRequest } from '../run-view.ts';
import { stopRequestCheck } from './stop-request-check.ts';

describe('StopRequestCheck', () => {
  const judge = (stopRequest: StopRequest | null) =>
    stopRequestCheck().evaluate(
      runView({ execution: { stopRequest } }),
      asked(),
    ) as ContinuationEvaluation;

  it.each<[StopRequest['by'], string, object | undefined]>([
    ['user', 'user_requested', { steps: 1 }],
    ['tool', 'guard', undefined],
    ['deadline', 'time_limit', undefined],
  ])('a request by %s stops with %s', (by, stopReason, grant) => {
    const evaluation = judge({ by, reason: 'the customer hung up' });
    expect(evaluation).toMatchObject({
      decision: 'forbid',
      reason: 'the customer hung up',
      context: { by },
      stopReason,
    });
    expect(evaluation.remedy?.text).not.toBe('');
    expect(evaluation.remedy?.grant).toEqual(grant);
  });

  it('allows without a stop request', () => {
    expect(judge(null)).toEqual({
      criterion: 'StopRequestCheck',
      decision: 'allow',
      reason: 'no stop requested',
      context: {},
    });
  });
});
