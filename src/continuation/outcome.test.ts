import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContinuationDecision } from './decision.ts';
import { ContinuationEvaluation } from './evaluation.ts';
import { ContinuationOutcome } from './outcome.ts';
import { forbidOrder, StopReason } from './stop-reason.ts';

const said = (
  criterion: string,
  decision: ContinuationDecision,
  more: Partial<ContinuationEvaluation> = {},
): ContinuationEvaluation => ({
  ...ContinuationEvaluation.fromDecision(criterion, decision),
  ...more,
});

/** Each criterion is named after its position, so the list order stays readable. */
const evaluations = (...decisions: readonly ContinuationDecision[]): ContinuationEvaluation[] =>
  decisions.map((decision, i) => said(`C${i}`, decision));

describe('ContinuationOutcome.resolve', () => {
  it.each<[ContinuationDecision[], ContinuationDecision, StopReason | null, string]>([
    [['allow', 'request', 'forbid'], 'forbid', 'guard', 'a forbid beats any request for more work'],
    [['allow', 'stop', 'forbid'], 'forbid', 'guard', 'a forbid beats an allowed stop'],
    [['forbid'], 'forbid', 'guard', 'a forbid without a stop reason is a guard'],
    [['stop', 'request'], 'request', null, 'a request beats an allowed stop'],
    [['allow', 'request'], 'request', null, 'one request is enough'],
    [['stop', 'allow'], 'stop', 'completed', 'an allow is not a request'],
    [['stop', 'stop'], 'stop', 'completed', 'all criteria are done'],
    [['allow', 'allow'], 'allow', null, 'no criterion forbids or is done'],
    [['allow'], 'allow', null, 'guards alone continue'],
  ])('%j -> %s, stop reason %s (%s)', (decisions, decision, stopReason) => {
    const shouldContinue = stopReason === null;
    for (const list of [evaluations(...decisions), evaluations(...decisions).toReversed()])
      expect(ContinuationOutcome.resolve(list)).toMatchObject({
        decision,
        shouldContinue,
        stopReason,
      });
  });

  it('is completed without criteria, resolved by ContinuationCriteria', () => {
    const outcome = ContinuationOutcome.resolve([]);
    expect(outcome.toJSON()).toEqual({
      decision: 'stop',
      shouldContinue: false,
      resolvedBy: 'ContinuationCriteria',
      stopReason: 'completed',
      evaluations: [],
    });
    expect(outcome.decisive).toBeUndefined();
    expect(outcome.forbiddingCriterion()).toBeNull();
  });

  it.each(forbidOrder.slice(1).map((weaker, i) => [forbidOrder[i]!, weaker] as const))(
    'among forbids %s is decisive over %s, in both orders',
    (stronger, weaker) => {
      const list = [
        said('Weaker', 'forbid', { stopReason: weaker }),
        said('Stronger', 'forbid', { stopReason: stronger }),
      ];
      for (const order of [list, list.toReversed()])
        expect(ContinuationOutcome.resolve(order)).toMatchObject({
          resolvedBy: 'Stronger',
          stopReason: stronger,
        });
    },
  );

  it('the first forbid in the list decides among those with the same stop reason', () => {
    const list = [
      said('Second', 'forbid', { stopReason: 'token_limit' }),
      said('First', 'forbid', { stopReason: 'time_limit' }),
      said('Third', 'forbid', { stopReason: 'time_limit' }),
    ];
    expect(ContinuationOutcome.resolve(list).resolvedBy).toBe('First');
    expect(ContinuationOutcome.resolve(list.toReversed()).resolvedBy).toBe('Third');
  });

  it('the first in the list decides among requests, allowed stops and allows', () => {
    for (const decision of ['request', 'stop', 'allow'] as const)
      expect(ContinuationOutcome.resolve(evaluations(decision, decision)).resolvedBy).toBe('C0');
  });

  it('ignores the stop reason of an evaluation that did not stop the run', () => {
    const outcome = ContinuationOutcome.resolve([
      said('A', 'request', { stopReason: 'steps_limit' }),
      said('B', 'stop', { stopReason: 'guard' }),
    ]);
    expect(outcome).toMatchObject({ decision: 'request', stopReason: null });
  });

  const evaluation = fc.record({
    criterion: fc.constantFrom('A', 'B', 'C', 'D', 'E'),
    decision: fc.constantFrom<ContinuationDecision>('forbid', 'request', 'stop', 'allow'),
    reason: fc.string(),
    context: fc.constant({}),
    stopReason: fc.option(fc.constantFrom(...forbidOrder), { nil: undefined }),
  }) as fc.Arbitrary<ContinuationEvaluation>;

  /** The five rules of the contract, written independently of the implementation. */
  function expected(list: readonly ContinuationEvaluation[]) {
    const of = (decision: ContinuationDecision) => list.filter((e) => e.decision === decision);
    const forbids = of('forbid').map((e) => e.stopReason ?? StopReason.GuardForbade);
    if (forbids.length > 0)
      return {
        shouldContinue: false,
        stopReason: forbidOrder.find((reason) => forbids.includes(reason)),
      };
    if (of('request').length > 0) return { shouldContinue: true, stopReason: null };
    const [done] = of('stop');
    if (done) return { shouldContinue: false, stopReason: done.stopReason ?? 'completed' };
    return list.length > 0
      ? { shouldContinue: true, stopReason: null }
      : { shouldContinue: false, stopReason: 'completed' };
  }

  it('property: every list resolves by the five rules, and to one of its evaluations', () => {
    fc.assert(
      fc.property(fc.array(evaluation, { maxLength: 8 }), (list) => {
        const outcome = ContinuationOutcome.resolve(list);
        expect(outcome).toMatchObject(expected(list));
        if (list.length === 0) return;
        expect(outcome.decisive).toMatchObject({
          criterion: outcome.resolvedBy,
          decision: outcome.decision,
        });
      }),
    );
  });

  it('property: no permutation of the list changes the outcome', () => {
    const listAndPermutation = fc
      .array(
        evaluation.map((e) => (e.decision === 'stop' ? { ...e, stopReason: undefined } : e)),
        { minLength: 1, maxLength: 8 },
      )
      .chain((list) =>
        fc.tuple(
          fc.constant(list as ContinuationEvaluation[]),
          fc.shuffledSubarray(list as ContinuationEvaluation[], {
            minLength: list.length,
            maxLength: list.length,
          }),
        ),
      );
    fc.assert(
      fc.property(listAndPermutation, ([list, permuted]) => {
        const { decision, shouldContinue, stopReason } = ContinuationOutcome.resolve(list);
        const other = ContinuationOutcome.resolve(permuted);
        expect([other.decision, other.shouldContinue, other.stopReason]).toEqual([
          decision,
          shouldContinue,
          stopReason,
        ]);
      }),
    );
  });
});

describe('ContinuationOutcome', () => {
  const outcome = ContinuationOutcome.resolve([
    said('StepsLimit', 'forbid', {
      stopReason: 'steps_limit',
      reason: '4 of 4 steps',
      context: { used: 4, limit: 4 },
      remedy: { text: 'grant more steps', option: 'withMaxSteps(...)', grant: { steps: 4 } },
    }),
    said('CostLimit', 'forbid', { stopReason: 'guard' }),
    said('ToolCallPresenceCheck', 'request'),
  ]);

  it('names the deciding criterion and finds any other by name', () => {
    expect(outcome.resolvedBy).toBe('StepsLimit');
    expect(outcome.forbiddingCriterion()).toBe('StepsLimit');
    expect(outcome.decisive?.context).toEqual({ used: 4, limit: 4 });
    expect(outcome.evaluationFor('ToolCallPresenceCheck')?.decision).toBe('request');
    expect(outcome.evaluationFor('Unknown')).toBeUndefined();
  });

  it('finds the deciding one of two evaluations with the same name', () => {
    const twins = ContinuationOutcome.resolve([
      said('Twin', 'forbid', { stopReason: 'guard', reason: 'weaker' }),
      said('Twin', 'forbid', { stopReason: 'time_limit', reason: 'stronger' }),
    ]);
    expect(twins.stopReason).toBe('time_limit');
    expect(twins.decisive?.reason).toBe('stronger');
  });

  it('has no stop reason and no forbidding criterion while the run continues', () => {
    const continuing = ContinuationOutcome.resolve(evaluations('stop', 'request'));
    expect(continuing).toMatchObject({ shouldContinue: true, stopReason: null, resolvedBy: 'C1' });
    expect(continuing.forbiddingCriterion()).toBeNull();
  });

  it('has no forbidding criterion after an allowed stop', () => {
    expect(ContinuationOutcome.resolve(evaluations('stop')).forbiddingCriterion()).toBeNull();
  });

  it('keeps data and methods through JSON and from()', () => {
    const filled = ContinuationOutcome.from(outcome.toJSON());
    const json = JSON.parse(JSON.stringify(filled)) as ReturnType<typeof outcome.toJSON>;
    const revived = ContinuationOutcome.from(json);
    expect(revived).toEqual(filled);
    expect(revived.toJSON()).toEqual(json);
    expect(revived.explain()).toBe(outcome.explain());
    expect(revived.forbiddingCriterion()).toBe('StepsLimit');
    expect(ContinuationOutcome.from(revived)).toBe(revived);
  });

  it('from() adds facts only to limits, errors and forbids of earlier releases', () => {
    const { evaluations, at } = ContinuationOutcome.from(outcome.toJSON());
    expect(evaluations.map(({ facts }) => facts)).toEqual([
      {
        kind: 'limit',
        unit: 'steps',
        scope: 'execution',
        used: 4,
        base: 4,
        granted: 0,
        limit: 4,
        grant: 'steps',
        owed: 0,
      },
      { kind: 'custom', remedy: null },
      undefined,
    ]);
    expect(at).toBeUndefined();
  });

  it('has exactly the fields of its JSON and is frozen', () => {
    expect(Object.keys(outcome)).toEqual([
      'decision',
      'shouldContinue',
      'resolvedBy',
      'stopReason',
      'evaluations',
    ]);
    expect(Object.isFrozen(outcome)).toBe(true);
    expect(Object.isFrozen(outcome.evaluations)).toBe(true);
  });

  it.each<[unknown, string]>([
    [null, 'nothing'],
    ['stop', 'a bare decision is not an outcome'],
    [{ decision: 'halt', evaluations: [] }, 'an unknown decision'],
    [{ ...outcome.toJSON(), evaluations: null }, 'no evaluations'],
    [{ ...outcome.toJSON(), resolvedBy: undefined }, 'no deciding criterion'],
    [{ ...outcome.toJSON(), shouldContinue: 'yes' }, 'no outcome'],
  ])('rejects %j (%s)', (json) => {
    expect(() => ContinuationOutcome.from(json as never)).toThrowError(
      expect.objectContaining({ code: 'invalid_state' }),
    );
  });
});
