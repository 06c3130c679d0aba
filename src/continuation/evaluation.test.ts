import { describe, expect, it } from 'vitest';
import type { ContinuationDecision } from './decision.ts';
import { ContinuationEvaluation, sharedEvaluations } from './evaluation.ts';

describe('ContinuationEvaluation.fromDecision', () => {
  it.each<[ContinuationDecision, string]>([
    ['forbid', 'StepsLimit forbade continuation'],
    ['request', 'StepsLimit requested continuation'],
    ['stop', 'StepsLimit allowed the stop'],
    ['allow', 'StepsLimit allowed continuation'],
  ])('%s: the reason names the criterion and the decision', (decision, reason) => {
    expect(ContinuationEvaluation.fromDecision('StepsLimit', decision)).toEqual({
      criterion: 'StepsLimit',
      decision,
      reason,
      context: {},
    });
  });
});

describe('sharedEvaluations', () => {
  it('returns the same frozen object for the same key, and bounds the cache', () => {
    let made = 0;
    const shared = sharedEvaluations((key: number) => {
      made += 1;
      return ContinuationEvaluation.fromDecision(`C${key}`, 'allow');
    });
    expect(shared(1)).toBe(shared(1));
    expect(Object.isFrozen(shared(1))).toBe(true);
    expect(made).toBe(1);
    for (let key = 0; key < 500; key++) shared(key);
    made = 0;
    for (let key = 0; key < 500; key++) shared(key);
    expect(made).toBe(400);
  });
});
