import type { ContinuationDecision } from './decision.ts';
import type { ContinuationEvaluation } from './evaluation.ts';
import type { GrantKind, Grants } from './grants.ts';
import type { RunView } from './run-view.ts';
import type { StopReason } from './stop-reason.ts';

export interface CriterionContext<Deps = {}> {
  /** Whether the run would continue without limits; known to criteria of kind `limit`, false for others. */
  readonly workPending: boolean;
  /** What has been granted to this execution on top of its limits. */
  readonly grants: Grants;
  /** Milliseconds since the epoch, from the agent's clock. */
  readonly now: number;
  /** Dependencies given to `run()`. */
  readonly deps: Deps;
  /** What a soft landing keeps back; null or absent where there is none. */
  readonly reserve?: LandingReserve | null;
}

/** How much of a budget a soft landing keeps back for the last answer. */
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
  /** A `limit` is asked in the second round, when it is known whether work is pending. */
  readonly kind?: 'limit';
  readonly evaluate: (state: S, context: CriterionContext<Deps>) => CriterionAnswer;
  /** The reason a limit stops with. */
  readonly stopReason?: StopReason;
  /** Counts what the agent does by itself: other limits bind the agents behind its calls as well. */
  readonly isOwn?: boolean;
  /** The builder's method that raises it. */
  readonly option?: string;
  /** The number that `agent.describe()` shows. */
  readonly limit?: number;
  /** The kind of grant that raises it; limits that no grant raises have none. */
  readonly grant?: GrantKind;
  /** For soft landing: whether the next step is the last one that this limit has room for. */
  landsNext?: (state: S, context: CriterionContext<Deps>, reserve: LandingReserve) => boolean;
  /** For time limits: milliseconds until a hanging call has to be cut. */
  remainingMs?: (state: S, context: CriterionContext<Deps>) => number;
}
