import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runView, START_MS } from '../../test/setup/run-view.ts';
import { ContinuationCriteria } from './continuation-criteria.ts';
import type { ContinuationCriterion, CriterionContext } from './criterion.ts';
import type { ContinuationDecision } from './decision.ts';
import { stepsLimit } from './criteria/steps-limit.ts';
import type { RunView } from './run-view.ts';
import { forbidOrder, StopReason } from './stop-reason.ts';

const state = runView();

const now = START_MS;

const saying = (
  name: string,
  decision: ContinuationDecision,
  more: Partial<ContinuationCriterion> = {},
): ContinuationCriterion => ({ name, evaluate: () => decision, ...more });

describe('ContinuationCriteria.evaluate', () => {
  it('is completed without criteria, resolved by ContinuationCriteria', () => {
    const outcome = ContinuationCriteria.from().evaluate(state);
    expect(outcome).toMatchObject({
      decision: 'stop',
      shouldContinue: false,
      stopReason: 'completed',
      resolvedBy: 'ContinuationCriteria',
    });
    expect(outcome.explain()).toBe('Completed (ContinuationCriteria): no criteria are configured.');
  });

  it.each<[unknown, string]>([
    [undefined, 'got undefined, expected a run view with an object'],
    [null, 'got null'],
    ['a text', 'got "a text"'],
    [7, 'got 7'],
    [[], 'got an array of 0, expected a run view with an execution'],
    [{}, 'got an empty object, expected a run view with an execution'],
    [{ execution: null }, 'expected a run view with an execution'],
    [{ execution: {} }, 'expected a run view with execution.grants'],
    [{ ...state, execution: { ...state.execution, grants: null } }, 'execution.grants'],
    [{ ...state, execution: { ...state.execution, id: 7 } }, 'execution.id'],
    [{ ...state, execution: { ...state.execution, usage: undefined } }, 'execution.usage'],
    [{ ...state, info: undefined }, 'info.usage'],
    [{ ...state, steps: undefined }, 'steps.at()'],
    [{ ...state, currentStep: undefined, version: 1, agentId: 'a', steps: {} }, 'AgentState.from'],
  ])('rejects a value that is not a run view and names the missing part: %j', (view, message) => {
    const criteria = ContinuationCriteria.from(stepsLimit(3));
    const given = view as RunView;
    for (const ask of [
      () => criteria.evaluate(given),
      () => criteria.canContinue(given),
      () => criteria.decide(given),
      () => criteria.landing(given, now, { tokens: 1, seconds: 1 }),
      () => criteria.budget(given, now),
      () => criteria.remainingMs(given, now),
      () => ContinuationCriteria.from().evaluate(given),
    ])
      expect(ask).toThrowError(
        expect.objectContaining({
          name: 'AgentError',
          code: 'invalid_state',
          message: expect.stringContaining(message),
        }),
      );
  });

  it('evaluates every criterion exactly once, ordinary ones first, even after a forbid', () => {
    const received: string[] = [];
    const evaluation = (name: string, decision: ContinuationDecision, kind?: 'limit') => ({
      name,
      ...(kind ? { kind } : null),
      evaluate: (): ContinuationDecision => {
        received.push(name);
        return decision;
      },
    });
    const outcome = ContinuationCriteria.from(
      evaluation('limit 1', 'forbid', 'limit'),
      evaluation('ordinary 1', 'forbid'),
      evaluation('limit 2', 'allow', 'limit'),
      evaluation('ordinary 2', 'request'),
    ).evaluate(state);
    expect(received).toEqual(['ordinary 1', 'ordinary 2', 'limit 1', 'limit 2']);
    expect(outcome.evaluations.map((e) => e.criterion)).toEqual([
      'limit 1',
      'ordinary 1',
      'limit 2',
      'ordinary 2',
    ]);
  });

  it.each<[ContinuationDecision[], boolean, string]>([
    [[], true, 'with limits only, no criterion is done'],
    [['allow'], true, 'no criterion is done'],
    [['request', 'stop'], true, 'one requests more'],
    [['stop', 'allow'], false, 'all criteria are done'],
    [['request', 'forbid'], false, 'a forbid ends it anyway'],
  ])('after %j, limits get workPending %s (%s)', (decisions, workPending) => {
    const seen: CriterionContext[] = [];
    const limit: ContinuationCriterion = {
      name: 'limit',
      kind: 'limit',
      evaluate: (_state, context) => {
        seen.push(context);
        return 'allow';
      },
    };
    const ordinary = decisions.map((decision, i) => saying(`C${i}`, decision));
    const granted = runView({ execution: { grants: { steps: 2 } } });
    ContinuationCriteria.from(limit, ...ordinary).evaluate(granted, { now });
    ContinuationCriteria.from(...ordinary.toReversed(), limit).evaluate(granted, { now });
    const context = { workPending, grants: { steps: 2 }, now, deps: {} };
    expect(seen).toEqual([context, context]);
  });

  it('never passes pending work to ordinary criteria', () => {
    const seen: boolean[] = [];
    ContinuationCriteria.from(saying('first', 'request'), {
      name: 'second',
      evaluate: (_state, { workPending }) => {
        seen.push(workPending);
        return 'allow';
      },
    }).evaluate(state);
    expect(seen).toEqual([false]);
  });

  it('adds a reason with criterion and decision to a bare decision', () => {
    const { evaluations } = ContinuationCriteria.from(saying('Mine', 'forbid')).evaluate(state);
    expect(evaluations).toEqual([
      {
        criterion: 'Mine',
        decision: 'forbid',
        reason: 'Mine forbade continuation',
        context: {},
        facts: { kind: 'custom', remedy: null },
      },
    ]);
  });

  it.each<[string, object, object]>([
    [
      'fills in a missing reason and context',
      { decision: 'request' },
      {
        criterion: 'Mine',
        decision: 'request',
        reason: 'Mine requested continuation',
        context: {},
      },
    ],
    [
      'treats undefined as missing',
      { decision: 'request', reason: undefined, context: undefined },
      {
        criterion: 'Mine',
        decision: 'request',
        reason: 'Mine requested continuation',
        context: {},
      },
    ],
    [
      'keeps all given fields, under the name of the criterion in the list',
      {
        criterion: 'Another',
        decision: 'forbid',
        reason: 'enough',
        context: { used: 1 },
        stopReason: 'token_limit',
        remedy: { text: 'wait' },
      },
      {
        criterion: 'Mine',
        decision: 'forbid',
        reason: 'enough',
        context: { used: 1 },
        stopReason: 'token_limit',
        remedy: { text: 'wait' },
        facts: { kind: 'custom', remedy: { text: 'wait' } },
      },
    ],
  ])('%s', (_why, answer, expected) => {
    const mine = { name: 'Mine', evaluate: () => answer as never };
    const [evaluation] = ContinuationCriteria.from(mine).evaluate(state).evaluations;
    expect(evaluation).toEqual(expected);
  });

  it.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no database');
      },
      'Broken threw: no database',
    ],
    [
      'throws a bare value',
      () => {
        throw 'gone'; // oxlint-disable-line no-throw-literal -- foreign code throws anything
      },
      'Broken threw: gone',
    ],
    [
      'returns a promise',
      async () => 'allow',
      'Broken returned a promise (criteria are synchronous) instead of a decision',
    ],
    [
      'returns a promise that rejects',
      async () => {
        throw new Error('too late');
      },
      'Broken returned a promise (criteria are synchronous) instead of a decision',
    ],
    ['returns a boolean', () => true, 'Broken returned true instead of a decision'],
    ['returns nothing', () => undefined, 'Broken returned undefined instead of a decision'],
    ['returns an unknown word', () => 'halt', 'Broken returned "halt" instead of a decision'],
    [
      'returns an object without a decision',
      () => ({ reason: 'x' }),
      'Broken returned {"reason":"x"} instead of a decision',
    ],
    [
      'returns an unknown stop reason',
      () => ({ decision: 'forbid', reason: 'x', context: {}, stopReason: 'tired' }),
      'Broken returned the unknown stop reason "tired"',
    ],
  ])(
    'a criterion that %s forbids with stop reason error, and the others are still evaluated',
    (_how, evaluate, reason) => {
      const outcome = ContinuationCriteria.from(
        { name: 'Broken', evaluate: evaluate as () => ContinuationDecision },
        saying('Before', 'request'),
        saying('Limit', 'allow', { kind: 'limit' }),
      ).evaluate(state);
      expect(outcome).toMatchObject({
        decision: 'forbid',
        shouldContinue: false,
        stopReason: 'error',
        resolvedBy: 'Broken',
      });
      expect(outcome.evaluationFor('Broken')).toMatchObject({
        decision: 'forbid',
        reason,
        stopReason: 'error',
        remedy: { text: 'fix the criterion Broken, then send a new message.' },
      });
      expect(outcome.evaluationFor('Broken')?.remedy?.grant).toBeUndefined();
      expect(outcome.evaluations.map((e) => e.decision)).toEqual(['forbid', 'request', 'allow']);
    },
  );

  it('a limit that throws also forbids with stop reason error', () => {
    const outcome = ContinuationCriteria.from(saying('Work', 'request'), {
      name: 'Limit',
      kind: 'limit',
      evaluate: () => {
        throw new Error('no numbers');
      },
    }).evaluate(state);
    expect(outcome).toMatchObject({ stopReason: 'error', resolvedBy: 'Limit' });
  });

  it('redacts a secret in an error that a criterion throws', () => {
    const secret = 'sk-live-abcdefghijklmnopqrstuvwxyz';
    const [evaluation] = ContinuationCriteria.from({
      name: 'Leaky',
      evaluate: () => {
        throw new Error(`401 for ${secret}`);
      },
    }).evaluate(state).evaluations;
    expect(evaluation?.reason).toBe('Leaky threw: 401 for [redacted]');
  });

  interface Draft {
    readonly decision: ContinuationDecision;
    readonly stopReason: StopReason;
    readonly isLimit: boolean;
  }
  const evaluation: fc.Arbitrary<Draft> = fc.record({
    decision: fc.constantFrom('forbid', 'request', 'stop', 'allow'),
    stopReason: fc.constantFrom(...forbidOrder),
    isLimit: fc.boolean(),
  });

  /** Forbids only while work is pending, like the built-in limits. */
  const made = ({ decision, stopReason, isLimit }: Draft, i: number): ContinuationCriterion => ({
    name: `C${i}`,
    ...(isLimit ? { kind: 'limit' as const } : null),
    evaluate(_state, { workPending }) {
      if (isLimit && (decision !== 'forbid' || !workPending)) return 'allow';
      return decision === 'forbid' ? { decision, reason: 'no', stopReason } : decision;
    },
  });

  it('property: the order of the criteria changes neither the outcome nor its reason', () => {
    fc.assert(
      fc.property(
        fc.array(evaluation, { minLength: 1, maxLength: 8 }).chain((list) => {
          const criteria = list.map(made);
          const { length } = criteria;
          return fc.tuple(
            fc.constant(criteria),
            fc.shuffledSubarray(criteria, { minLength: length, maxLength: length }),
          );
        }),
        ([listed, permuted]) => {
          const a = ContinuationCriteria.from(...listed).evaluate(state);
          const b = ContinuationCriteria.from(...permuted).evaluate(state);
          expect([b.decision, b.shouldContinue, b.stopReason]).toEqual([
            a.decision,
            a.shouldContinue,
            a.stopReason,
          ]);
        },
      ),
    );
  });

  it('property: canContinue and decide agree with evaluate', () => {
    fc.assert(
      fc.property(fc.array(evaluation, { maxLength: 6 }), (list) => {
        const criteria = ContinuationCriteria.from(...list.map(made));
        const { shouldContinue, decision } = criteria.evaluate(state);
        expect(criteria.canContinue(state)).toBe(shouldContinue);
        expect(criteria.decide(state)).toBe(decision);
      }),
    );
  });
});

describe('ContinuationCriteria as a list', () => {
  it('with() appends criteria and leaves the original unchanged', () => {
    const one = ContinuationCriteria.from(saying('A', 'allow'));
    const two = one.with(saying('B', 'allow'), saying('C', 'allow'));
    expect(one.list.map((c) => c.name)).toEqual(['A']);
    expect(two.list.map((c) => c.name)).toEqual(['A', 'B', 'C']);
    expect(Object.isFrozen(two.list)).toBe(true);
  });

  it.each<[unknown, string]>([
    [undefined, 'nothing'],
    [stepsLimit, 'a factory instead of a criterion'],
    [{ name: 'X' }, 'no evaluation'],
    [{ evaluate: () => 'allow' }, 'no name'],
  ])('refuses %s (%s)', (criterion) => {
    expect(() => ContinuationCriteria.from(criterion as never)).toThrowError(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });
});
