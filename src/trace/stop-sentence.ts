import type { Pause } from '../agent/agent-state.ts';
import type { BroadcastStatus } from '../agent/agent-status.ts';
import { explainState, stateParts } from '../continuation/explain-state.ts';
import type { Explanation, ExplanationAction } from '../continuation/explanation.ts';
import type { GrantAllowance } from '../continuation/grant-allowance.ts';
import { grantLabel, grantText } from '../continuation/grant-text.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { PendingApproval, PendingInput } from '../events/agent-event.ts';
import { sentence } from '../sentence.ts';
import type { StopAction, StopSentence } from './trace.ts';

export interface StopFacts {
  readonly status: BroadcastStatus;
  readonly outcome: ContinuationOutcomeJSON | null;
  readonly pause?: Pick<Pause, 'kind' | 'reason'> | null;
  readonly pendingApprovals?: readonly Pick<PendingApproval, 'callId' | 'tool'>[];
  readonly pendingInputs?: readonly Pick<PendingInput, 'callId' | 'inputId' | 'tool'>[];
  /** The failure that ended it, if there is no outcome. */
  readonly error?: Pick<ErrorRecord, 'message'> | null;
  /** What the owner may still grant; null or absent: no cap is known. */
  readonly allowance?: GrantAllowance | null;
  /** Whether it is a nested agent. Only the root takes a grant, a resume or a message; default false. */
  readonly isNested?: boolean;
  /** Set if the session was imported: it is read-only, and no action is offered. */
  readonly imported?: object;
}

/** Explains why a run does not continue, and how to continue; null while it is busy or has nothing to do. */
export function stopSentence(facts: StopFacts): StopSentence | null {
  const { status, outcome, error } = facts;
  if (status === 'processing' || status === 'idle') return null;
  const explained = facts.isNested ? ofNested(explainState(facts)) : explainState(facts);
  const message = outcome === null && error ? sentence(error.message) : '';
  const explanation = message === '' ? explained : { ...explained, detail: message };
  const { lead, because } = stateParts(facts);
  return {
    lead,
    because,
    goOnIf: conditionOf(explanation.actions),
    note: explanation.detail || null,
    action: actionOf(explanation),
    explanation,
  };
}

/** Keeps the actions that work for a nested agent. */
const ofNested = (explanation: Explanation): Explanation => ({
  ...explanation,
  actions: explanation.actions.filter(({ kind }) => forNested.has(kind)),
});
const forNested: ReadonlySet<ExplanationAction['kind']> = new Set(['approve', 'input', 'change']);

/** Returns the action of a button; null if there is none. */
function actionOf({ actions }: Explanation): StopAction | null {
  for (const action of actions) {
    if (action.kind === 'grant')
      return { kind: 'grant', grant: action.grant, label: grantLabel(action.grant) };
    if (action.kind === 'resume') return { kind: 'resume', label: 'Resume' };
    if (action.kind === 'retry') return { kind: 'retry', label: 'Retry' };
    if (action.kind === 'new_message') return { kind: 'message', label: 'New message' };
  }
  return null;
}

/** Returns the text of the deprecated field, which clients print as the condition to continue. */
function conditionOf(actions: readonly ExplanationAction[]): string | null {
  const action = actions.find(({ kind }) => kind === 'grant') ?? actions[0];
  switch (action?.kind) {
    case undefined:
      return null;
    case 'grant':
      return `it had ${grantText(action.grant, 'more')}`;
    case 'input':
      return 'you answered';
    case 'approve':
      return action.callIds.length === 1
        ? 'you approved or denied it'
        : 'you approved or denied each of them';
    case 'resume':
      return 'you resumed it';
    case 'retry':
      return 'you retried it';
    case 'ask_operator':
      return 'an operator raised the limit, or you sent a new message';
    case 'change':
      return actions.length > 1 ? 'you sent a new message' : 'the cause were removed';
    default:
      return 'you sent a new message';
  }
}
