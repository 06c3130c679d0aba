import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { costLimit, sessionCostLimit } from '../../src/continuation/criteria/cost-limit.ts';
import { errorPolicyCriterion } from '../../src/continuation/criteria/error-policy-criterion.ts';
import { finishReasonCheck } from '../../src/continuation/criteria/finish-reason-check.ts';
import { noProgressLimit } from '../../src/continuation/criteria/no-progress-limit.ts';
import { stepsLimit } from '../../src/continuation/criteria/steps-limit.ts';
import { stopRequestCheck } from '../../src/continuation/criteria/stop-request-check.ts';
import {
  cumulativeExecutionTimeLimit,
  executionTimeLimit,
} from '../../src/continuation/criteria/time-limit.ts';
import { tokenUsageLimit } from '../../src/continuation/criteria/token-usage-limit.ts';
import { toolCallPresenceCheck } from '../../src/continuation/criteria/tool-call-presence-check.ts';
import type { ContinuationCriterion } from '../../src/continuation/criterion.ts';
import type { ContinuationEvaluation } from '../../src/continuation/evaluation.ts';
import { ContinuationOutcome } from '../../src/continuation/outcome.ts';
import type { RunView } from '../../src/continuation/run-view.ts';
import { ErrorPolicy } from '../../src/errors/error-policy.ts';
import { builtInCriteria, isCustomCriterion } from '../../src/continuation/built-in-criteria.ts';
import { precedence, groupByDecision } from '../../src/console/trace/precedence.ts';
import { columnsOf, matrixOf } from '../../src/console/trace/matrix.ts';
import { rowsOf } from '../../src/console/trace/trace-rows.ts';
import { meterOf, meterTexts } from '../../src/console/trace/limit-meter.ts';
import { asked, calledView, errorRecord, failedCall, runView, START } from '../setup/run-view.ts';
import { traceWith } from './trace-builder.ts';
import { designRun, longTrace, runs } from './trace-fixtures.ts';

const says = (
  criterion: ContinuationCriterion,
  state: RunView,
  context = asked(),
): ContinuationEvaluation => criterion.evaluate(state, context) as ContinuationEvaluation;

describe('meterOf with evaluations of real criteria', () => {
  const called = calledView([{ name: 'search' }]);
  const spent = runView({
    steps: [called],
    execution: { answeredSteps: 5, usage: { total: 40_212 }, cost: 0.1004, cumulativeSeconds: 120 },
    info: { cost: 2 },
    executionStartedAt: START,
  });
  const policy = errorPolicyCriterion(ErrorPolicy.retryAll(3));
  const failing = (count: number): RunView =>
    runView({
      steps: [failedCall({ errors: [errorRecord({ type: 'rate_limit' })] })],
      execution: { consecutiveFailures: count, totalFailures: count },
    });
  const modelFailed = runView({
    steps: [failedCall()],
    execution: { consecutiveFailures: 1, totalFailures: 1 },
  });
  const stopping = errorPolicyCriterion(ErrorPolicy.stopOnAnyError());

  it.each<[ContinuationEvaluation, string, string | null]>([
    [says(stepsLimit(5), spent), 'full', '5 / 5'],
    [says(stepsLimit(20), spent), 'plain', '5 / 20'],
    [says(tokenUsageLimit(40_000), spent), 'full', '40,212 / 40,000'],
    [says(costLimit(0.1), spent), 'full', '$0.1004 / $0.10'],
    [says(sessionCostLimit(50), spent), 'plain', '$2.00 / $50.00'],
    [says(cumulativeExecutionTimeLimit({ seconds: 120 }), spent), 'full', '120 / 120 s'],
    [
      says(executionTimeLimit({ seconds: 300 }), spent, asked({ now: Date.parse(START) + 17_340 })),
      'plain',
      '17.3 / 300 s',
    ],
    [says(noProgressLimit(3), spent), 'plain', '1 / 3'],
    [says(policy, runView()), 'plain', '0 / 3'],
    [says(policy, failing(2)), 'warn', '2 / 3'],
    [says(policy, failing(4)), 'full', '3 / 3'],
    // the policy stops immediately, so no retry was used
    [says(stopping, failing(1)), '', null],
    [says(errorPolicyCriterion(ErrorPolicy.retryToolErrors(3)), modelFailed), '', null],
    [says(finishReasonCheck(), spent), '', null],
    [says(stopRequestCheck(), spent), '', null],
    [says(toolCallPresenceCheck(), spent), '', null],
  ])('%j', (evaluation, tone, text) => {
    const meter = meterOf(evaluation);
    if (text === null) {
      expect(meter).toBeNull();
      return;
    }
    expect(meter?.tone).toBe(tone);
    expect(meter && meterTexts(meter).join(' / ')).toBe(text);
  });

  it('shows a cost without a price as unknown', () => {
    const meter = meterOf(says(costLimit(0.1), runView({ execution: { cost: null } })));
    expect(meter).toMatchObject({ used: null, tone: 'plain' });
    expect(meter && meterTexts(meter)).toEqual(['unknown', '$0.10']);
  });

  it('reads only used and limit of an unknown evaluation', () => {
    const own = { criterion: 'Mine', decision: 'allow', reason: '' } as const;
    expect(meterOf({ ...own, context: { used: 2, limit: 7 } })).toMatchObject({ unit: 'count' });
    for (const context of [
      {},
      { used: 2 },
      { limit: 'x', used: 1 },
      { limit: 0, used: 0 },
      { limit: 3, used: '1' },
    ])
      expect(meterOf({ ...own, context })).toBeNull();
  });
});

describe('custom evaluations', () => {
  it('are those without the name of a built-in criterion', () => {
    const folder = 'src/continuation/criteria';
    const names = readdirSync(folder)
      .filter((file) => !file.includes('.test.'))
      .flatMap((file) => [
        ...readFileSync(`${folder}/${file}`, 'utf8').matchAll(
          /(?:name(?::| =) |time\()'([A-Z]\w+)'/g,
        ),
      ])
      .map(([, name]) => name);
    expect(names.length).toBeGreaterThan(14);
    expect(new Set([...names, 'ContinuationCriteria'])).toEqual(builtInCriteria);
    expect(isCustomCriterion('LeadHasOwner')).toBe(true);
  });
});

const evaluation = (
  criterion: string,
  decision: ContinuationEvaluation['decision'],
): ContinuationEvaluation => ({ criterion, decision, reason: criterion, context: {} });
const shown = (...evaluations: readonly ContinuationEvaluation[]): string[] =>
  groupByDecision(ContinuationOutcome.resolve(evaluations).toJSON()).map(
    ({ decision, isDecisive, evaluations: all }) =>
      `${decision}${isDecisive ? '!' : ''} ${all.map((v) => v.criterion).join('')}`.trim(),
  );

describe('the groups', () => {
  it('are always four, in order of precedence', () => {
    expect(precedence).toEqual(['forbid', 'request', 'stop', 'allow']);
    expect(
      groupByDecision(ContinuationOutcome.resolve([]).toJSON()).map((r) => r.decision),
    ).toEqual(precedence);
  });

  it.each<[ContinuationEvaluation[], string[]]>([
    [
      [
        evaluation('A', 'allow'),
        evaluation('R', 'request'),
        evaluation('F', 'forbid'),
        evaluation('S', 'stop'),
      ],
      ['forbid! F', 'request R', 'stop S', 'allow A'],
    ],
    [
      [evaluation('A', 'allow'), evaluation('R', 'request')],
      ['forbid', 'request! R', 'stop', 'allow A'],
    ],
    [
      [evaluation('A', 'allow'), evaluation('S', 'stop')],
      ['forbid', 'request', 'stop! S', 'allow A'],
    ],
    [[evaluation('A', 'allow')], ['forbid', 'request', 'stop', 'allow! A']],
    [[], ['forbid', 'request', 'stop', 'allow']],
  ])('%#', (evaluations, groups) => {
    expect(shown(...evaluations)).toEqual(groups);
    expect(shown(...evaluations.toReversed())).toEqual(groups);
  });

  it('have the decisive evaluation first and the others in their order', () => {
    const forbids = (criterion: string, stopReason: 'guard' | 'steps_limit') => ({
      ...evaluation(criterion, 'forbid'),
      stopReason,
    });
    expect(
      shown(forbids('G', 'guard'), forbids('S', 'steps_limit'), forbids('H', 'guard'))[0],
    ).toBe('forbid! SGH');
  });

  it('match the outcome of every step of a real run', () => {
    for (const step of traceWith(designRun).steps) {
      const groups = groupByDecision(step.outcome!);
      expect(groups.filter((r) => r.isDecisive).map((r) => r.evaluations[0]?.criterion)).toEqual([
        step.outcome!.resolvedBy,
      ]);
      expect(groups.flatMap((r) => r.evaluations)).toHaveLength(step.outcome!.evaluations.length);
    }
  });
});

describe('the matrix', () => {
  it('has a cell for each evaluation and step, one decisive in each column', () => {
    const { evaluations, columns } = matrixOf(rowsOf(traceWith(designRun)));
    expect(columns).toHaveLength(6);
    expect(evaluations).toHaveLength(10);
    for (const at of columns.keys())
      expect(evaluations.filter(({ cells }) => cells[at]?.isDecisive)).toHaveLength(1);
    expect(
      evaluations.find((v) => v.name === 'StepsLimit')?.cells.map((c) => c.evaluation?.decision),
    ).toEqual(['allow', 'allow', 'allow', 'allow', 'allow', 'forbid']);
  });

  it('leaves the cells of a step without an outcome empty', () => {
    const { evaluations } = matrixOf(rowsOf(traceWith(runs['running']!)));
    expect(evaluations.every(({ cells }) => cells[1]?.evaluation === null)).toBe(true);
  });

  it('shows the newest 24 steps, or those around a selected older one', () => {
    const rows = rowsOf(longTrace(150));
    const numbers = (selected?: number): number[] =>
      columnsOf(rows, selected).map(({ number }) => number);
    expect([numbers().length, numbers()[0], numbers().at(-1)]).toEqual([24, 127, 150]);
    expect(numbers(140)).toEqual(numbers());
    expect(numbers(60)).toContain(60);
    expect(numbers(60)).toHaveLength(24);
    expect(numbers(1)[0]).toBe(1);
  });
});
