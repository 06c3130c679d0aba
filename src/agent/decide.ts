import { isoTime } from '../clock.ts';
import type { ContinuationCriteria } from '../continuation/continuation-criteria.ts';
import type { LandingReserve } from '../continuation/criterion.ts';
import type { ContinuationOutcome } from '../continuation/outcome.ts';
import type { StopRequest } from '../continuation/run-view.ts';
import type { Redactor } from '../errors/redactor.ts';
import type { AgentState } from './agent-state.ts';

/** What ended a run from outside. */
export interface EndRequests {
  /** A request of a user or a tool. */
  readonly request: StopRequest | null;
  /** Whether the run was cancelled, by its user or by its deadline. */
  readonly isCancelled: boolean;
}

export interface DecideOptions {
  readonly now: number;
  readonly redactor?: Redactor;
  readonly reserve: LandingReserve | null;
  readonly deps: object;
}

/** The outcome of a state, and the state with the stop request that led to it. */
export interface Decided {
  readonly state: AgentState;
  readonly outcome: ContinuationOutcome;
  /** Whether the run would have continued if it had not been cancelled. */
  readonly isForced: boolean;
}

/** Evaluates the criteria of a state. A cancelled run that they would continue ends by its deadline. */
export function decide(
  criteria: ContinuationCriteria<AgentState>,
  before: AgentState,
  { request, isCancelled }: EndRequests,
  options: DecideOptions,
): Decided {
  const state = request ? withRequest(before, request) : before;
  const outcome = criteria.evaluate(state, options);
  if (!outcome.shouldContinue || !isCancelled) return { state, outcome, isForced: false };
  const late = withRequest(state, {
    by: 'deadline',
    reason: 'the deadline of the run was reached',
    at: isoTime(options.now),
  });
  return { state: late, outcome: criteria.evaluate(late, options), isForced: true };
}

const withRequest = (state: AgentState, stopRequest: StopRequest): AgentState =>
  state.with({ execution: { ...state.execution, stopRequest } });
