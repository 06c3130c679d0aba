import { describe, expect, it } from 'vitest';
import { ContinuationEvaluation } from './evaluation.ts';
import { ContinuationOutcome } from './outcome.ts';

const explain = (...evaluations: readonly ContinuationEvaluation[]): string =>
  ContinuationOutcome.resolve(evaluations).explain();

const work: ContinuationEvaluation = {
  criterion: 'ToolCallPresenceCheck',
  decision: 'request',
  reason: 'the model called search',
  context: {},
};

describe('explain', () => {
  it('names the criterion that requested continuation, then lists all', () => {
    expect(explain(ContinuationEvaluation.fromDecision('StepsLimit', 'allow'), work)).toBe(
      [
        'Continues (requested by ToolCallPresenceCheck): the model called search.',
        '  allow    StepsLimit             StepsLimit allowed continuation',
        '  request  ToolCallPresenceCheck  the model called search',
      ].join('\n'),
    );
  });

  it('names the criterion that allowed continuation', () => {
    expect(explain(ContinuationEvaluation.fromDecision('Mine', 'allow'))).toBe(
      'Continues (allowed by Mine): Mine allowed continuation.\n' +
        '  allow    Mine  Mine allowed continuation',
    );
  });

  it('names one grant for all criteria that forbade', () => {
    const text = explain(
      {
        criterion: 'StepsLimit',
        decision: 'forbid',
        reason: '4 of 4 steps used while work is still pending',
        context: { used: 4, limit: 4 },
        stopReason: 'steps_limit',
        remedy: { text: 'grant more steps.' },
      },
      {
        criterion: 'CostLimit',
        decision: 'forbid',
        reason: '2 of 1 cost units used while work is still pending',
        context: { used: 2, limit: 1 },
        stopReason: 'guard',
        remedy: { text: 'grant more cost units.' },
      },
      work,
    );
    expect(text).toBe(
      [
        'Stopped (steps_limit) by StepsLimit: 4 of 4 steps used while work is still pending.',
        'To continue: call resume(state, { grant: { steps: 4, cost: 2 } }).',
        '  forbid   StepsLimit             4 of 4 steps used while work is still pending',
        '  forbid   CostLimit              2 of 1 cost units used while work is still pending',
        '  request  ToolCallPresenceCheck  the model called search',
      ].join('\n'),
    );
  });

  it('states that a run is completed', () => {
    expect(
      explain({ criterion: 'Done', decision: 'stop', reason: 'all is said', context: {} }),
    ).toBe('Completed (Done): all is said.\n  stop     Done  all is said');
  });
});
