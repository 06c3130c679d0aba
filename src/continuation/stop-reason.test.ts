import { describe, expect, it } from 'vitest';
import { ContinuationDecision, isDecision } from './decision.ts';
import { forbidOrder, StopReason } from './stop-reason.ts';

describe('StopReason', () => {
  it('keeps the persisted words', () => {
    expect(StopReason).toEqual({
      Completed: 'completed',
      StepsLimitReached: 'steps_limit',
      TokenLimitReached: 'token_limit',
      TimeLimitReached: 'time_limit',
      RetryLimitReached: 'retry_limit',
      ErrorForbade: 'error',
      FinishReasonReceived: 'finish_reason',
      GuardForbade: 'guard',
      UserRequested: 'user_requested',
    });
  });

  it('has one precedence that lists every reason once', () => {
    expect(forbidOrder).toEqual([
      'user_requested',
      'time_limit',
      'error',
      'retry_limit',
      'token_limit',
      'steps_limit',
      'finish_reason',
      'guard',
      'completed',
    ]);
    expect(forbidOrder.toSorted()).toEqual(Object.values(StopReason).toSorted());
  });
});

describe('ContinuationDecision', () => {
  it('keeps the persisted words', () => {
    expect(ContinuationDecision).toEqual({
      ForbidContinuation: 'forbid',
      RequestContinuation: 'request',
      AllowStop: 'stop',
      AllowContinuation: 'allow',
    });
  });

  it.each<[unknown, boolean, string]>([
    ['forbid', true, 'the wire words are decisions'],
    ['request', true, 'the wire words are decisions'],
    ['stop', true, 'the wire words are decisions'],
    ['allow', true, 'the wire words are decisions'],
    ['ForbidContinuation', false, 'the name of the constant is not its value'],
    ['', false, 'nothing was said'],
    [true, false, 'a boolean is not a decision'],
    [null, false, 'nothing was said'],
    [undefined, false, 'nothing was said'],
  ])('%j is a decision: %j (%s)', (value, expected) => {
    expect(isDecision(value)).toBe(expected);
  });
});
