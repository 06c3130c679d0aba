import { agentCriteria, type AgentLimits } from '../agent/agent-criteria.ts';
import type { AgentState } from '../agent/agent-state.ts';
import type { AgentStep } from '../agent/agent-step.ts';
import { plainOptions } from '../agent/check-options.ts';
import type { RecordedPolicy } from '../agent/recorded-policy.ts';
import { ContinuationCriteria } from '../continuation/continuation-criteria.ts';
import type { ContinuationCriterion, LandingReserve } from '../continuation/criterion.ts';
import { factsOf } from '../continuation/facts-of.ts';
import { ErrorPolicy } from '../errors/error-policy.ts';
import { changedLimits, type ReplayOptions } from './replay-options.ts';

/** The policy of a step: the recorded one, or what an older record contains of it. */
export interface PolicyInUse extends Omit<RecordedPolicy, 'hash' | 'errorPolicy'> {
  /** Null if it was not recorded. */
  readonly errorPolicy: RecordedPolicy['errorPolicy'] | null;
}

/** Criteria that judge recorded steps. */
export interface Judges {
  readonly criteria: ContinuationCriteria<AgentState>;
  /** Null if the policy was not recorded. */
  readonly errorPolicy: ErrorPolicy | null;
  readonly landingReserve: LandingReserve | null;
  readonly models: readonly string[];
  readonly deps: object;
}

/** The step that is judged, for criteria whose recorded evaluations are used. */
export interface Cursor {
  step: AgentStep | null;
}

/** Builds the criteria as the agent has built them, with the changes of a replay. */
export function judgesOf(policy: PolicyInUse, options: ReplayOptions, cursor: Cursor): Judges {
  const { limits, tools = [], models = [], softLanding, own = [], hasErrorResolver } = policy;
  const given = hasErrorResolver ? null : (options.errorPolicy ?? policy.errorPolicy);
  const errorPolicy = given && ErrorPolicy.from(given).forTools(tools);
  const recorded = own.map(
    ({ name, isLimit }, place): ContinuationCriterion<AgentState, never> => ({
      name,
      ...(isLimit && { kind: 'limit' as const }),
      evaluate: () => evaluationFromEnd(cursor, own.length - place),
    }),
  );
  const built = agentCriteria(changedLimits(limits, options.limits), options.criteria ?? recorded, {
    errorPolicy: errorPolicy ?? ErrorPolicy.stopOnAnyError(),
    write: plainOptions.code,
  });
  const isAssumed = policy.errorPolicy === null;
  const played = built.list.map((criterion) =>
    (criterion.name === 'ErrorPolicyCriterion' && errorPolicy === null) ||
    (criterion.name === 'FinishReasonCheck' && isAssumed)
      ? { name: criterion.name, evaluate: () => evaluationNamed(cursor, criterion.name) }
      : criterion,
  );
  return {
    criteria: ContinuationCriteria.from<AgentState>(...played),
    errorPolicy,
    landingReserve: softLanding ?? null,
    models,
    deps: options.deps ?? {},
  };
}

const unrecorded = { decision: 'allow', reason: 'not recorded' } as const;

/** The own criteria come last, in their order. */
const evaluationFromEnd = ({ step }: Cursor, places: number) =>
  step?.outcome?.evaluations.at(-places) ?? unrecorded;

const evaluationNamed = ({ step }: Cursor, name: string) =>
  step?.outcome?.evaluationFor(name) ?? unrecorded;

const limitNames = {
  StepsLimit: 'maxSteps',
  FamilyStepsLimit: 'maxFamilySteps',
  TokenUsageLimit: 'maxTokens',
  CostLimit: 'maxCost',
} as const;
const timeLimitNames = {
  ExecutionTimeLimit: 'timeout',
  CumulativeExecutionTimeLimit: 'cumulativeTimeout',
} as const;
const checks: ReadonlySet<string> = new Set([
  'FinishReasonCheck',
  'ErrorPolicyCriterion',
  'StopRequestCheck',
  'ToolCallPresenceCheck',
]);

/** Reads the limits from the evaluations of a step, for records without a policy. */
export function assumedPolicy({ outcome }: AgentStep): PolicyInUse {
  const limits: { -readonly [K in keyof AgentLimits]: AgentLimits[K] } = {};
  const own: { name: string; isLimit?: true }[] = [];
  for (const evaluation of outcome?.evaluations ?? []) {
    const { criterion, context } = evaluation;
    const facts = factsOf(evaluation);
    if (facts.kind === 'limit') {
      if (context['scope'] === 'family') continue;
      const counted = limitNames[criterion as keyof typeof limitNames];
      const timed = timeLimitNames[criterion as keyof typeof timeLimitNames];
      if (counted) limits[counted] = facts.base;
      else if (timed) limits[timed] = { seconds: facts.base };
      else own.push({ name: criterion, isLimit: true });
    } else if (criterion === 'FinishReasonCheck') limits.finishReasons = [];
    else if (!checks.has(criterion)) own.push({ name: criterion });
  }
  return { limits, errorPolicy: null, ...(own.length > 0 && { own }) };
}
