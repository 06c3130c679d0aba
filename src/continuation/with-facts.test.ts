import { describe, expect, it } from 'vitest';
import { asked, calledView, runView } from '../../test/setup/run-view.ts';
import { AgentBuilder } from '../agent/agent-builder.ts';
import { AgentState } from '../agent/agent-state.ts';
import { DeterministicDriver } from '../testing/deterministic-driver.ts';
import { mockTool } from '../testing/mock-tool.ts';
import { ScenarioStep } from '../testing/scenario-step.ts';
import { costLimit, sessionCostLimit } from './criteria/cost-limit.ts';
import { limitCriterion } from './criteria/limit.ts';
import { noProgressLimit } from './criteria/no-progress-limit.ts';
import { familyStepsLimit, sessionStepsLimit, stepsLimit } from './criteria/steps-limit.ts';
import {
  cumulativeExecutionTimeLimit,
  executionTimeLimit,
  sessionTimeLimit,
} from './criteria/time-limit.ts';
import { sessionTokenUsageLimit, tokenUsageLimit } from './criteria/token-usage-limit.ts';
import type { ContinuationCriterion } from './criterion.ts';
import type { ContinuationEvaluation } from './evaluation.ts';
import type { Grants } from './grants.ts';
import { ContinuationOutcome } from './outcome.ts';
import { outcomeWithFacts } from './with-facts.ts';

const view = runView({
  execution: { answeredSteps: 3, usage: { total: 3 }, cost: 3, cumulativeSeconds: 3 },
  info: { answeredSteps: 3, usage: { total: 3 }, cost: 3, cumulativeExecutionSeconds: 3 },
});

const evaluate = (criterion: ContinuationCriterion, grants: Grants = {}): ContinuationEvaluation =>
  criterion.evaluate(view, asked({ grants })) as ContinuationEvaluation;

/** Writes an evaluation as JSON and reads it back. */
const stored = (evaluation: ContinuationEvaluation): ContinuationEvaluation | undefined =>
  ContinuationOutcome.from(
    JSON.parse(JSON.stringify(ContinuationOutcome.resolve([evaluation]))) as ContinuationOutcome,
  ).evaluations[0];

const limits = [
  [stepsLimit(10), 'steps', 'execution', 3],
  [familyStepsLimit(10), 'steps', 'family', 3],
  [sessionStepsLimit(10), 'steps', 'session', 3],
  [tokenUsageLimit(10), 'tokens', 'execution', 3],
  [sessionTokenUsageLimit(10), 'tokens', 'session', 3],
  [costLimit(10), 'cost', 'execution', 3],
  [sessionCostLimit(10), 'cost', 'session', 3],
  [executionTimeLimit({ seconds: 10 }), 'seconds', 'execution', 0],
  [cumulativeExecutionTimeLimit({ seconds: 10 }), 'seconds', 'execution', 3],
  [sessionTimeLimit({ seconds: 10 }), 'seconds', 'session', 3],
  [noProgressLimit(10), 'repeats', 'execution', 0],
] as const;

describe('facts of a limit that is not used up', () => {
  it.each(limits.map(([criterion, ...facts]) => [criterion.name, criterion, ...facts] as const))(
    '%s: derived from name and context, and not stored',
    (_name, criterion, unit, scope, used) => {
      const evaluation = evaluate(criterion);
      const facts = { kind: 'limit', unit, scope, used, base: 10, granted: 0, limit: 10 };
      expect(evaluation.facts).toEqual(facts);
      expect(Object.keys(evaluation)).toEqual(['criterion', 'decision', 'reason', 'context']);
      const revived = stored(evaluation);
      expect(revived).toEqual(evaluation);
      expect(revived?.facts).toEqual(facts);
      expect(JSON.stringify(revived)).toBe(JSON.stringify(evaluation));
    },
  );

  it('name the repeated tool', () => {
    const steps = [calledView([{ name: 'look' }])];
    const evaluation = noProgressLimit(3).evaluate({ ...view, steps }, asked());
    expect((evaluation as ContinuationEvaluation).facts).toMatchObject({
      used: 1,
      toolName: 'look',
    });
  });

  it('are stored once a grant has raised the limit', () => {
    const evaluation = evaluate(stepsLimit(10), { steps: 5 });
    expect(stored(evaluation)?.facts).toMatchObject({ base: 10, granted: 5, limit: 15 });
    expect(Object.keys(evaluation)).toContain('facts');
  });

  it('are stored if a custom limit has the name of a built-in one', () => {
    const mine = limitCriterion({
      name: 'StepsLimit',
      stopReason: 'guard',
      max: 10,
      unit: 'pages',
      measure: 'tokens',
      option: 'pages(...)',
      used: () => 3,
    });
    expect(stored(evaluate(mine))?.facts).toMatchObject({ unit: 'tokens', used: 3 });
  });

  it('keep unknown fields of a newer release', () => {
    const newer = { ...evaluate(stepsLimit(10)), since: 'a newer release' };
    expect(stored(newer)).toEqual({ ...newer, facts: evaluate(stepsLimit(10)).facts });
  });

  it('are derived if the field is undefined', () => {
    const { facts, ...said } = evaluate(stepsLimit(10));
    const unset = { ...said, facts: undefined } as unknown as ContinuationEvaluation;
    const json = { ...ContinuationOutcome.resolve([unset]) };
    expect(ContinuationOutcome.from(json).evaluations[0]?.facts).toEqual(facts);
  });

  it('report an unknown cost', () => {
    const unpriced = runView({ execution: { cost: null } });
    const evaluation = costLimit(10).evaluate(unpriced, asked()) as ContinuationEvaluation;
    expect(stored(evaluation)?.facts).toMatchObject({ unit: 'cost', used: null, limit: 10 });
  });

  it('are included in outcomeWithFacts', () => {
    const { evaluations } = outcomeWithFacts(
      ContinuationOutcome.resolve([evaluate(stepsLimit(10)), evaluate(noProgressLimit(10))]),
    );
    const units = evaluations.map((one) => (Object.hasOwn(one, 'facts') ? one.facts : null));
    expect(units).toMatchObject([{ unit: 'steps' }, { unit: 'repeats' }]);
  });
});

describe('a state', () => {
  it('has the same JSON after reading, and stores no facts of limits that are not used up', async () => {
    const agent = AgentBuilder.base()
      .withDriver(
        DeterministicDriver.fromSteps(ScenarioStep.toolCall('look'), ScenarioStep.final('done')),
      )
      .withTools(mockTool('look', 'seen'))
      .withMaxTokens(1_000)
      .build();
    const json = JSON.stringify(await agent.run('go'));
    expect(json).not.toContain('"facts"');
    const read = AgentState.from(JSON.parse(json));
    expect(JSON.parse(JSON.stringify(read))).toEqual({
      ...JSON.parse(json),
      executionStartedAt: null,
    });
    expect(read.lastContinuationOutcome?.evaluationFor('TokenUsageLimit')?.facts).toMatchObject({
      unit: 'tokens',
      limit: 1_000,
    });
  });
});
