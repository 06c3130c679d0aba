import { describe, expect, it } from 'vitest';
import { asked, runView, START, START_MS, stepView } from '../../../test/setup/run-view.ts';
import { AgentError } from '../../errors/agent-error.ts';
import type { ContinuationCriterion, CriterionContext } from '../criterion.ts';
import type { ContinuationEvaluation } from '../evaluation.ts';
import type { Grants } from '../grants.ts';
import type { RunView } from '../run-view.ts';
import type { StopReason } from '../stop-reason.ts';
import { costLimit, sessionCostLimit } from './cost-limit.ts';
import { noProgressLimit } from './no-progress-limit.ts';
import { familyStepsLimit, sessionStepsLimit, stepsLimit } from './steps-limit.ts';
import {
  cumulativeExecutionTimeLimit,
  executionTimeLimit,
  sessionTimeLimit,
} from './time-limit.ts';
import { sessionTokenUsageLimit, tokenUsageLimit } from './token-usage-limit.ts';

interface Row {
  readonly name: string;
  readonly make: (max: number) => ContinuationCriterion;
  readonly stopReason: StopReason;
  /** The run view after the execution or session has used this amount. */
  readonly after: (used: number) => RunView;
  readonly nowAt?: (used: number) => number;
  readonly words: string;
  readonly option: string;
  readonly grant: keyof Grants | null;
}

const rows: readonly Row[] = [
  {
    name: 'StepsLimit',
    make: stepsLimit,
    stopReason: 'steps_limit',
    after: (answeredSteps) => runView({ execution: { answeredSteps } }),
    words: 'steps',
    option: 'stepsLimit(...)',
    grant: 'steps',
  },
  {
    name: 'FamilyStepsLimit',
    make: familyStepsLimit,
    stopReason: 'steps_limit',
    after: (answeredSteps) => runView({ execution: { answeredSteps } }),
    words: 'steps of all agents',
    option: 'familyStepsLimit(...)',
    grant: 'steps',
  },
  {
    name: 'SessionStepsLimit',
    make: sessionStepsLimit,
    stopReason: 'steps_limit',
    after: (answeredSteps) => runView({ info: { answeredSteps } }),
    words: 'steps of the session',
    option: 'sessionStepsLimit(...)',
    grant: null,
  },
  {
    name: 'TokenUsageLimit',
    make: tokenUsageLimit,
    stopReason: 'token_limit',
    after: (total) => runView({ execution: { usage: { total } } }),
    words: 'tokens',
    option: 'tokenUsageLimit(...)',
    grant: 'tokens',
  },
  {
    name: 'SessionTokenUsageLimit',
    make: sessionTokenUsageLimit,
    stopReason: 'token_limit',
    after: (total) => runView({ info: { usage: { total } } }),
    words: 'tokens of the session',
    option: 'sessionTokenUsageLimit(...)',
    grant: null,
  },
  {
    name: 'CostLimit',
    make: costLimit,
    stopReason: 'guard',
    after: (cost) => runView({ execution: { cost } }),
    words: 'cost units',
    option: 'costLimit(...)',
    grant: 'cost',
  },
  {
    name: 'SessionCostLimit',
    make: sessionCostLimit,
    stopReason: 'guard',
    after: (cost) => runView({ info: { cost } }),
    words: 'cost units of the session',
    option: 'sessionCostLimit(...)',
    grant: null,
  },
  {
    name: 'ExecutionTimeLimit',
    make: (seconds) => executionTimeLimit({ seconds }),
    stopReason: 'time_limit',
    after: () => runView({ executionStartedAt: START }),
    nowAt: (used) => START_MS + used * 1000,
    words: 'seconds',
    option: 'executionTimeLimit({ seconds })',
    grant: 'seconds',
  },
  {
    name: 'CumulativeExecutionTimeLimit',
    make: (seconds) => cumulativeExecutionTimeLimit({ seconds }),
    stopReason: 'time_limit',
    after: (cumulativeSeconds) => runView({ execution: { cumulativeSeconds } }),
    words: 'working seconds',
    option: 'cumulativeExecutionTimeLimit({ seconds })',
    grant: 'seconds',
  },
  {
    name: 'SessionTimeLimit',
    make: (seconds) => sessionTimeLimit({ seconds }),
    stopReason: 'time_limit',
    after: (cumulativeExecutionSeconds) => runView({ info: { cumulativeExecutionSeconds } }),
    words: 'working seconds of the session',
    option: 'sessionTimeLimit({ seconds })',
    grant: null,
  },
];

const everyKind: Grants = { steps: 9, tokens: 9, cost: 9, seconds: 9, retries: 9 };

const ask = (
  row: Row,
  max: number,
  used: number,
  context: Partial<CriterionContext> = {},
): ContinuationEvaluation =>
  row
    .make(max)
    .evaluate(
      row.after(used),
      asked({ now: row.nowAt?.(used) ?? START_MS, ...context }),
    ) as ContinuationEvaluation;

describe.each(rows)('$name', (row) => {
  const { name, stopReason, words } = row;

  it('is a limit, with its number for describe()', () => {
    expect(row.make(7)).toMatchObject({ name, kind: 'limit', limit: 7, stopReason });
  });

  it.each<[number, boolean, ContinuationEvaluation['decision'], string]>([
    [9, true, 'allow', 'below the limit'],
    [10, true, 'forbid', 'at the limit'],
    [12, true, 'forbid', 'a step may overshoot'],
    [10, false, 'allow', 'an answer on the last allowed step is not a stop by the limit'],
    [12, false, 'allow', 'nothing is left to do'],
  ])('%d of 10 with work pending %s: %s (%s)', (used, workPending, decision) => {
    const evaluation = ask(row, 10, used, { workPending });
    expect(evaluation).toMatchObject({
      criterion: name,
      decision,
      context: { used, limit: 10 },
    });
    expect(evaluation.stopReason).toBe(decision === 'forbid' ? stopReason : undefined);
  });

  it('states the numbers in the reason', () => {
    expect(ask(row, 10, 3).reason).toBe(`3 of 10 ${words}`);
    expect(ask(row, 10, 10).reason).toBe(`10 of 10 ${words} used while work is still pending`);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', undefined])(
    'rejects a limit of %s',
    (max) => {
      expect(() => row.make(max as number)).toThrowError(
        expect.objectContaining({ name: 'AgentError', code: 'invalid_option' }),
      );
    },
  );

  it('forbids once its landing step is answered, even below the limit and without pending work', () => {
    const view = row.after(3);
    const landed = { ...view, currentStep: stepView({ softLanding: name }) };
    const now = row.nowAt?.(3) ?? START_MS;
    for (const workPending of [true, false])
      expect(row.make(10).evaluate(landed, asked({ now, workPending }))).toMatchObject({
        decision: 'forbid',
        stopReason,
        reason: `3 of 10 ${words} used, and this last step was kept for an answer without tools`,
      });
  });

  it.each<[string, Partial<RunView>]>([
    ['the landing of another limit', { currentStep: stepView({ softLanding: 'Another' }) }],
    [
      'a landing call that failed',
      { currentStep: stepView({ softLanding: name, type: 'error', finishReason: null }) },
    ],
    [
      'an interrupted landing call',
      { currentStep: stepView({ softLanding: name, type: 'cut', finishReason: null }) },
    ],
    [
      'a landing of an earlier execution',
      { currentStep: stepView({ softLanding: name, executionId: 'exec_0' }) },
    ],
  ])('is not landed by %s', (_why, patch) => {
    const view = { ...row.after(3), ...patch };
    const now = row.nowAt?.(3) ?? START_MS;
    expect(row.make(10).evaluate(view, asked({ now }))).toMatchObject({ decision: 'allow' });
  });

  it('ignores the landing step after a grant reopened the execution', () => {
    const view = row.after(3);
    const reopened = {
      ...view,
      currentStep: stepView({ number: 4, softLanding: name }),
      execution: { ...view.execution, handledStep: 4 },
    };
    const now = row.nowAt?.(3) ?? START_MS;
    expect(row.make(10).evaluate(reopened, asked({ now }))).toMatchObject({ decision: 'allow' });
  });
});

describe.each(rows.filter(({ grant }) => grant === null))('$name of the session', (row) => {
  it('has a remedy without a grant: raise the limit and send a new message', () => {
    expect(ask(row, 10, 10).remedy).toEqual({
      text: `raise the limit with ${row.option}, then send a new message.`,
      option: row.option,
    });
  });

  it('is not extended by any grant', () => {
    expect(ask(row, 10, 10, { grants: everyKind }).context).toEqual({ used: 10, limit: 10 });
  });
});

describe.each(rows.flatMap((row) => (row.grant === null ? [] : [{ ...row, grant: row.grant }])))(
  '$name of the execution',
  (row) => {
    const { option, grant } = row;

    it('has a remedy with its kind of grant and the option that raises it', () => {
      expect(ask(row, 10, 10).remedy).toEqual({
        text: `call resume(state, { grant: { ${grant}: 10 } }), or raise the limit with ${option}.`,
        option,
        grant: { [grant]: 10 },
      });
    });

    it('adds a grant to the limit and shows it in the reason', () => {
      const grants = { [grant]: 5 };
      expect(ask(row, 10, 14, { grants })).toMatchObject({
        decision: 'allow',
        context: { used: 14, limit: 15 },
      });
      expect(ask(row, 10, 15, { grants }).decision).toBe('forbid');
    });

    it('ignores a grant of another kind', () => {
      const { [grant]: _own, ...others } = everyKind;
      expect(ask(row, 10, 10, { grants: others }).context).toEqual({ used: 10, limit: 10 });
    });
  },
);

describe('number format', () => {
  const reason = (criterion: ContinuationCriterion, view: RunView): string =>
    (criterion.evaluate(view, asked()) as ContinuationEvaluation).reason;

  it.each<[number, number, string]>([
    [0, 1, '0 of 1 cost units'],
    [0.1 + 0.2, 1, '0.3 of 1 cost units'],
    [0.0012345, 0.5, '0.0012 of 0.5 cost units'],
    [1.23456, 2.5, '1.23 of 2.5 cost units'],
  ])('a cost of %d of %d reads "%s"', (cost, max, expected) => {
    expect(reason(costLimit(max), runView({ execution: { cost } }))).toBe(expected);
  });

  it('shows seconds in tenths, and keeps milliseconds in the context', () => {
    const view = runView({ execution: { cumulativeSeconds: 1.2345 } });
    expect(cumulativeExecutionTimeLimit({ seconds: 60 }).evaluate(view, asked())).toMatchObject({
      reason: '1.2 of 60 working seconds',
      context: { used: 1.235, limit: 60 },
    });
  });

  it.each<[string, ContinuationCriterion, RunView, Grants]>([
    [
      'tokens',
      tokenUsageLimit(1_000),
      runView({ execution: { usage: { total: 5_400 } } }),
      { tokens: 5_400 },
    ],
    ['cost', costLimit(0.001), runView({ execution: { cost: 5.004 } }), { cost: 5.004 }],
    [
      'seconds',
      cumulativeExecutionTimeLimit({ seconds: 10 }),
      runView({ execution: { cumulativeSeconds: 500.25 } }),
      { seconds: 501 },
    ],
  ])('the proposed grant of %s also covers usage beyond the limit', (_kind, limit, view, grant) => {
    const { remedy } = limit.evaluate(view, asked()) as ContinuationEvaluation;
    expect(remedy?.grant).toEqual(grant);
    expect(limit.evaluate(view, asked({ grants: remedy?.grant ?? {} }))).toMatchObject({
      decision: 'allow',
    });
  });

  it('proposes a run as long as the limit after a wall-clock stop, and owes nothing', () => {
    const view = runView({ executionStartedAt: START });
    const late = asked({ now: START_MS + 500_000 });
    const { remedy } = executionTimeLimit({ seconds: 10 }).evaluate(
      view,
      late,
    ) as ContinuationEvaluation;
    expect(remedy?.grant).toEqual({ seconds: 10 });
  });
});

describe('CostLimit without a price', () => {
  it.each([
    ['CostLimit', costLimit(0.5), runView({ execution: { cost: null } }), 'cost units'],
    [
      'SessionCostLimit',
      sessionCostLimit(0.5),
      runView({ info: { cost: null } }),
      'cost units of the session',
    ],
  ] as const)('%s allows, and states that it is not enforced', (criterion, limit, view, words) => {
    expect(limit.evaluate(view, asked())).toMatchObject({
      criterion,
      decision: 'allow',
      reason: `the price is unknown, so the limit of 0.5 ${words} is not enforced`,
      context: { used: null, limit: 0.5 },
    });
  });
});

describe('NoProgressLimit', () => {
  it.each([0, -3, Number.NaN])('rejects noProgressLimit(%d)', (times) => {
    expect(() => noProgressLimit(times)).toThrowError(AgentError);
  });
});
