import { ContinuationCriteria } from '../continuation/continuation-criteria.ts';
import { costLimit } from '../continuation/criteria/cost-limit.ts';
import {
  errorPolicyCriterion,
  type WriteOption,
} from '../continuation/criteria/error-policy-criterion.ts';
import { finishReasonCheck } from '../continuation/criteria/finish-reason-check.ts';
import { familyStepsLimit, stepsLimit } from '../continuation/criteria/steps-limit.ts';
import { stopRequestCheck } from '../continuation/criteria/stop-request-check.ts';
import {
  cumulativeExecutionTimeLimit,
  executionTimeLimit,
  type TimeLimit,
} from '../continuation/criteria/time-limit.ts';
import { tokenUsageLimit } from '../continuation/criteria/token-usage-limit.ts';
import { toolCallPresenceCheck } from '../continuation/criteria/tool-call-presence-check.ts';
import type { ContinuationCriterion } from '../continuation/criterion.ts';
import type { ErrorContextResolver } from '../continuation/error-context-resolver.ts';
import type { ErrorPolicy } from '../errors/error-policy.ts';
import type { AgentState } from './agent-state.ts';

/** The limits of an agent, named as its options; absent: no limit. */
export interface AgentLimits {
  readonly maxSteps?: number;
  readonly maxFamilySteps?: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly timeout?: TimeLimit;
  /** Takes the place of `timeout`. */
  readonly cumulativeTimeout?: TimeLimit;
  /** Finish reasons that end a run; absent if none is checked. */
  readonly finishReasons?: readonly string[];
}

/** A criterion of the user or of a capability. */
export interface OwnCriterion {
  readonly name: string;
  /** Whether it is evaluated after the ordinary criteria. */
  readonly isLimit?: true;
}

/** How errors are handled, and how texts name the options. */
export interface AgentErrorHandling {
  readonly errorPolicy: ErrorPolicy;
  readonly errorContextResolver?: ErrorContextResolver<AgentState> | undefined;
  readonly write: WriteOption & ((option: keyof AgentLimits, value?: string) => string);
}

/** Builds the criteria of an agent in the order in which `explain()` lists them: limits, checks, own criteria. */
export function agentCriteria(
  limits: AgentLimits,
  own: readonly ContinuationCriterion<AgentState, never>[],
  { errorPolicy, errorContextResolver, write }: AgentErrorHandling,
): ContinuationCriteria<AgentState> {
  const list: ContinuationCriterion<AgentState>[] = limitCriteria(limits, write);
  list.push(errorPolicyCriterion(errorPolicy, errorContextResolver, write));
  list.push(stopRequestCheck(), toolCallPresenceCheck());
  return ContinuationCriteria.from<AgentState>(...list, ...own);
}

function limitCriteria(
  limits: AgentLimits,
  write: AgentErrorHandling['write'],
): ContinuationCriterion<AgentState>[] {
  const { maxSteps, maxFamilySteps, maxTokens, maxCost } = limits;
  const { timeout, cumulativeTimeout, finishReasons } = limits;
  const list: ContinuationCriterion<AgentState>[] = [];
  if (maxSteps !== undefined) list.push(stepsLimit(maxSteps, write('maxSteps')));
  if (maxFamilySteps !== undefined)
    list.push(familyStepsLimit(maxFamilySteps, write('maxFamilySteps')));
  if (maxTokens !== undefined) list.push(tokenUsageLimit(maxTokens, write('maxTokens')));
  if (maxCost !== undefined) list.push(costLimit(maxCost, write('maxCost')));
  if (cumulativeTimeout !== undefined)
    list.push(
      cumulativeExecutionTimeLimit(cumulativeTimeout, write('cumulativeTimeout', '{ seconds }')),
    );
  else if (timeout !== undefined)
    list.push(executionTimeLimit(timeout, write('timeout', '{ seconds }')));
  if (finishReasons !== undefined)
    list.push(finishReasonCheck(finishReasons, write('finishReasons')));
  return list;
}
