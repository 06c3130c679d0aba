import type { ContinuationDecision } from './decision.ts';
import type { ContinuationEvaluation } from './evaluation.ts';
import type { GrantKind, Grants } from './grants.ts';
import type { RunView } from './run-view.ts';
import type { StopReason } from './stop-reason.ts';

export interface CriterionContext<Deps = {}> {
  /** Whether the run would continue without limits. Always false for criteria that are not of kind `limit`. */
  readonly workPending: boolean;
  /** Budget granted to this execution in addition to its limits. */
  readonly grants: Grants;
  /** Milliseconds since the epoch, from the agent's clock. */
  readonly now: number;
  /** Dependencies passed to `run()`. */
  readonly deps: Deps;
  /** Budget that a soft landing reserves; null or absent without soft landing. */
  readonly reserve?: LandingReserve | null;
}

/** Budget that a soft landing reserves for the last answer. */
export interface LandingReserve {
  readonly tokens: number;
  readonly seconds: number;
}

export type CriterionAnswer =
  | ContinuationDecision
  | (Omit<ContinuationEvaluation, 'criterion' | 'context'> & Partial<ContinuationEvaluation>);

/** A rule that is evaluated after each step. Synchronous, and a function of its arguments. */
export interface ContinuationCriterion<S = RunView, Deps = {}> {
  readonly name: string;
  /** A `limit` is evaluated after the ordinary criteria, with `workPending` set. */
  readonly kind?: 'limit';
  readonly evaluate: (state: S, context: CriterionContext<Deps>) => CriterionAnswer;
  /** Stop reason of a limit. */
  readonly stopReason?: StopReason;
  /** Whether the limit counts only the agent itself; other limits bind nested agents too. */
  readonly isOwn?: boolean;
  /** Option that raises the limit, such as `maxSteps` or `withMaxSteps(...)`. */
  readonly option?: string;
  /** Number that `agent.describe()` shows. */
  readonly limit?: number;
  /** Kind of grant that raises the limit; absent if no grant raises it. */
  readonly grant?: GrantKind;
  /** For soft landing: returns whether the next step is the last one that this limit allows. */
  landsNext?: (state: S, context: CriterionContext<Deps>, reserve: LandingReserve) => boolean;
  /** For time limits: returns the milliseconds until a hanging call is interrupted. */
  remainingMs?: (state: S, context: CriterionContext<Deps>) => number;
}
