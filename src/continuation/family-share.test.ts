import { describe, expect, it } from 'vitest';
import { asked, runView, START_MS } from '../../test/setup/run-view.ts';
import { ContinuationCriteria } from './continuation-criteria.ts';
import type { ContinuationCriterion } from './criterion.ts';
import { costLimit, sessionCostLimit } from './criteria/cost-limit.ts';
import { noProgressLimit } from './criteria/no-progress-limit.ts';
import { familyStepsLimit, sessionStepsLimit, stepsLimit } from './criteria/steps-limit.ts';
import { executionTimeLimit } from './criteria/time-limit.ts';
import { sessionTokenUsageLimit, tokenUsageLimit } from './criteria/token-usage-limit.ts';
import {
  addShares,
  minusShares,
  spendersOf,
  spentBy,
  stepsOfFamily,
  type FamilyShare,
} from './family-share.ts';

const share = (agent: string, steps = 1, tokens = 10, cost: number | null = null): FamilyShare => ({
  agent,
  steps,
  tokens,
  cost,
});

describe('shares', () => {
  it('are added by name, and a name may be any string', () => {
    const sum = addShares([share('a'), share('__proto__')], [share('__proto__', 2, 5, 0.5)]);
    expect(sum).toEqual([share('a'), share('__proto__', 3, 15, 0.5)]);
    expect(stepsOfFamily(sum)).toBe(4);
    expect(addShares(sum)).toBe(sum);
    expect(addShares(undefined, undefined)).toEqual([]);
  });

  it.each<[number | null, number | null, number | null]>([
    [null, null, null],
    [0.5, null, 0.5],
    [null, 0.5, 0.5],
    [null, 0, null],
    [0, null, null],
    [0, 0, 0],
  ])('add the known costs: %s and %s are %s', (a, b, expected) => {
    const [sum] = addShares([share('a', 1, 1, a)], [share('a', 1, 1, b)]);
    expect(sum?.cost).toBe(expected);
  });

  it('are subtracted, and entries without usage are left out', () => {
    const now = [share('a', 3, 30, 0.5), share('b')];
    expect(minusShares(now, [share('a', 1, 10, 0.5), share('b')])).toEqual([share('a', 2, 20, 0)]);
    expect(minusShares(now)).toBe(now);
  });

  it.each<[readonly FamilyShare[], string]>([
    [[], ''],
    [[share('a', 1, 0)], ''],
    [[share('', 1, 50)], ''],
    [[share('a', 1, 5)], ', 5 of them by a'],
    [[share('a', 1, 5), share('b', 1, 9)], ', 9 of them by b and 5 by a'],
    [
      [share('a', 1, 1), share('b', 1, 2), share('c', 1, 3), share('d', 1, 4), share('e', 1, 5)],
      ', 5 of them by e, 4 by d, 3 by c and 3 by others',
    ],
  ])('%j: "%s"', (shares, words) => {
    expect(
      spentBy(
        spendersOf(shares, ({ tokens }) => tokens),
        String,
      ),
    ).toBe(words);
  });
});

describe('objections of limits to nested agents', () => {
  const used = runView({
    executionStartedAt: '2026-01-16T12:00:00.000Z',
    execution: { answeredSteps: 5, usage: { total: 5 }, cost: 5, family: [share('a', 2, 3, 4)] },
    info: { answeredSteps: 5, usage: { total: 5 }, cost: 5 },
  });
  const namesOf = (tokens: number | null, criterion: ContinuationCriterion): string[] =>
    ContinuationCriteria.from(criterion)
      .objections(used, START_MS + 5000, tokens === null ? null : { tokens, seconds: tokens })
      .map((said) => said.criterion);

  it.each([
    ['TokenUsageLimit', tokenUsageLimit(5), true],
    ['SessionTokenUsageLimit', sessionTokenUsageLimit(5), true],
    ['CostLimit', costLimit(5), true],
    ['SessionCostLimit', sessionCostLimit(5), true],
    ['FamilyStepsLimit', familyStepsLimit(7), true],
    ['FamilyStepsLimit', familyStepsLimit(8), false],
    ['TokenUsageLimit', tokenUsageLimit(6), false],
    // these count only the agent itself, and the deadline enforces time limits
    ['StepsLimit', stepsLimit(5), false],
    ['SessionStepsLimit', sessionStepsLimit(5), false],
    ['NoProgressLimit', noProgressLimit(1), false],
    ['ExecutionTimeLimit', executionTimeLimit({ seconds: 5 }), false],
  ])('%s %# used up: objects %s', (name, criterion, binds) => {
    expect(namesOf(null, criterion)).toEqual(binds ? [name] : []);
  });

  it.each([
    ['TokenUsageLimit', tokenUsageLimit(8), true],
    ['TokenUsageLimit', tokenUsageLimit(9), false],
    ['FamilyStepsLimit', familyStepsLimit(8), true],
    ['ExecutionTimeLimit', executionTimeLimit({ seconds: 8 }), true],
    ['CostLimit', costLimit(6), false],
    ['StepsLimit', stepsLimit(6), false],
  ])('%s %# with a landing that reserves 3: objects %s', (name, criterion, binds) => {
    expect(namesOf(3, criterion)).toEqual(binds ? [name] : []);
  });

  it('include a criterion that throws', () => {
    const broken = {
      name: 'Broken',
      kind: 'limit' as const,
      evaluate(): never {
        throw new Error('no');
      },
    };
    expect(namesOf(null, broken)).toEqual(['Broken']);
  });

  it('the reason of a stop names the agent that used the most', () => {
    const said = familyStepsLimit(7).evaluate(used, asked());
    expect(said).toMatchObject({
      reason: '7 of 7 steps of all agents used while work is still pending, 2 of them by a',
      context: { used: 7, limit: 7, spenders: [{ agent: 'a', amount: 2 }] },
    });
  });
});
