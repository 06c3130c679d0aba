import { explainOutcome, outcomeParts } from './explain-outcome.ts';
import { explainStatus, statusParts, type ExplainableStatus } from './explain-status.ts';
import type { ExplainOptions, Explanation, ExplanationParts } from './explanation.ts';
import type { GrantAllowance } from './grant-allowance.ts';
import type { ContinuationOutcomeJSON } from './outcome.ts';

/** The parts of a state that an explanation reads. `AgentState`, its JSON and sessions match this shape. */
export interface ExplainableState extends ExplainableStatus {
  readonly lastContinuationOutcome?: ContinuationOutcomeJSON | null;
  /** Outcome of a session, in place of `lastContinuationOutcome`. */
  readonly outcome?: ContinuationOutcomeJSON | null;
  /** What the owner of a session may still grant. The option of the same name takes precedence. */
  readonly allowance?: GrantAllowance | null;
  /** Set if the session was imported: it is read-only, and no action is offered. */
  readonly imported?: object;
}

/** Explains the status of a run: stopped, paused, parked, busy or not started. */
export function explainState(state: ExplainableState, options: ExplainOptions = {}): Explanation {
  const { allowance = null } = state;
  const outcome = endOf(state);
  const explanation = outcome
    ? explainOutcome(outcome, { allowance, ...options })
    : explainStatus(state);
  return state.imported ? { ...explanation, actions: [] } : explanation;
}

/** Explains a state in parts; `because` is empty if there is no reason. */
export function stateParts(state: ExplainableState): ExplanationParts {
  const outcome = endOf(state);
  return outcome ? outcomeParts(outcome) : statusParts(state);
}

/** The outcome that ended the run; null while it is paused, busy or not started. */
function endOf({
  status,
  lastContinuationOutcome,
  outcome = null,
}: ExplainableState): ContinuationOutcomeJSON | null {
  const isOver = status !== 'paused' && status !== 'in_progress' && status !== 'pending';
  return isOver ? (lastContinuationOutcome ?? outcome) : null;
}
