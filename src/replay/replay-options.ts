import type { ContinuationCriterion } from '../continuation/criterion.ts';
import type { AgentLimits } from '../agent/agent-criteria.ts';
import type { AgentState } from '../agent/agent-state.ts';
import type { ErrorPolicyJSON } from '../errors/error-policy.ts';

/** Limits of a replay, in place of the recorded ones. `null` removes a limit; an absent one stays. */
export interface ReplayLimits {
  readonly maxSteps?: number | null;
  readonly maxTokens?: number | null;
  readonly maxCost?: number | null;
  /** Seconds of the recorded time limit: the working time if the run had a `cumulativeTimeout`, else the wall clock. */
  readonly seconds?: number | null;
}

/** What differs from the recorded policy. Without it, a replay repeats the recorded decisions. */
export interface ReplayOptions {
  readonly limits?: ReplayLimits;
  /** In place of the recorded policy. The error rules of tools stay. */
  readonly errorPolicy?: Partial<ErrorPolicyJSON>;
  /** In place of the agent's own `criteria`. Without it, their recorded evaluations are used. */
  readonly criteria?: readonly ContinuationCriterion<AgentState, never>[];
  /** Dependencies of these criteria. */
  readonly deps?: object;
  /** Execution to replay. Default: the newest one. */
  readonly executionId?: string;
}

/** Applies the limits of a replay. */
export function changedLimits(limits: AgentLimits, change: ReplayLimits = {}): AgentLimits {
  const { maxSteps, maxTokens, maxCost, timeout, cumulativeTimeout, ...rest } = limits;
  const seconds = cumulativeTimeout ?? timeout;
  const chosen = {
    maxSteps: either(change.maxSteps, maxSteps),
    maxTokens: either(change.maxTokens, maxTokens),
    maxCost: either(change.maxCost, maxCost),
    [cumulativeTimeout === undefined ? 'timeout' : 'cumulativeTimeout']:
      change.seconds === undefined ? seconds : change.seconds && { seconds: change.seconds },
  };
  const set = Object.entries(chosen).filter(([, value]) => value !== undefined && value !== null);
  return { ...rest, ...Object.fromEntries(set) };
}

/** Returns the limits of an agent as a replay names them. */
export const limitsIn = (limits: AgentLimits): Required<ReplayLimits> => ({
  maxSteps: limits.maxSteps ?? null,
  maxTokens: limits.maxTokens ?? null,
  maxCost: limits.maxCost ?? null,
  seconds: (limits.cumulativeTimeout ?? limits.timeout)?.seconds ?? null,
});

const either = (change: number | null | undefined, recorded: number | undefined) =>
  change === undefined ? recorded : change;
