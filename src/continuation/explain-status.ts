import { sentence, withoutFullStop } from '../sentence.ts';
import type { Explanation, ExplanationAction, ExplanationParts } from './explanation.ts';

/** The parts of a state that an explanation reads besides its outcome. */
export interface ExplainableStatus {
  readonly status: string;
  readonly pause?: { readonly kind: string; readonly reason?: string | null } | null;
  readonly pendingApprovals?: readonly WaitingCall[];
  readonly pendingInputs?: readonly WaitingQuestion[];
}

interface WaitingCall {
  readonly callId: string;
  readonly tool: string;
}

interface WaitingQuestion extends WaitingCall {
  readonly inputId: string;
}

/** Explains a run without a final outcome: paused, busy, not started, or ended without a record. */
export function explainStatus(state: ExplainableStatus): Explanation {
  const { lead, because, detail } = statusParts(state);
  return {
    headline: because === '' ? sentence(lead) : `${lead} ${because}.`,
    detail,
    decidedBy: null,
    stopReason: null,
    actions: state.status === 'paused' ? pauseActions(state) : [],
  };
}

/** Explains a status in parts; `because` is empty if there is no reason. */
export function statusParts(state: ExplainableStatus): ExplanationParts {
  const parts = (lead: string, because: string = ''): ExplanationParts => ({
    lead,
    because,
    detail: '',
  });
  switch (state.status) {
    case 'paused':
      return parts('Waiting because', pauseText(state));
    case 'in_progress':
      return parts('Working');
    case 'pending':
      return parts('Nothing has run yet');
    case 'failed':
      return parts('Failed because', 'an error ended it');
    default:
      return parts('Stopped');
  }
}

function pauseText({
  pause,
  pendingApprovals = [],
  pendingInputs = [],
}: ExplainableStatus): string {
  const reasons = [
    ...(pendingApprovals.length > 0 ? [approvalText(pendingApprovals)] : []),
    ...(pendingInputs.length > 0 ? [inputText(pendingInputs)] : []),
  ];
  if (reasons.length > 0) return reasons.join(', and ');
  if (pause?.kind === 'fork') return 'this fork has not been resumed';
  const reason = withoutFullStop(pause?.reason ?? '');
  return reason === '' || reason === ON_REQUEST
    ? 'it was paused on request'
    : `it was paused: ${reason}`;
}

const approvalText = (calls: readonly WaitingCall[]): string =>
  calls.length === 1
    ? `${toolsOf(calls)} needs approval`
    : `${calls.length} calls need approval: ${toolsOf(calls)}`;

const inputText = (questions: readonly WaitingQuestion[]): string =>
  questions.length === 1
    ? `${toolsOf(questions)} needs an answer`
    : `${questions.length} questions need answers: ${toolsOf(questions)}`;

/** Default reason of a pause. */
const ON_REQUEST = 'on request';

const toolsOf = (calls: readonly WaitingCall[]): string =>
  [...new Set(calls.map(({ tool }) => tool))].join(', ');

function pauseActions({
  pendingApprovals = [],
  pendingInputs = [],
}: ExplainableStatus): readonly ExplanationAction[] {
  const actions: ExplanationAction[] = [];
  if (pendingApprovals.length > 0)
    actions.push({
      kind: 'approve',
      callIds: pendingApprovals.map(({ callId }) => callId),
      text: `To continue, approve or deny ${pendingApprovals.length === 1 ? toolsOf(pendingApprovals) : 'each of the calls'}.`,
      developerText:
        'call resume(state, { approvals: { [callId]: { approve: true } } }), or { deny: reason }.',
    });
  if (pendingInputs.length > 0)
    actions.push({
      kind: 'input',
      callIds: [...new Set(pendingInputs.map(({ callId }) => callId))],
      inputIds: pendingInputs.map(({ inputId }) => inputId),
      text:
        pendingInputs.length === 1
          ? `To continue, answer the question of ${toolsOf(pendingInputs)}.`
          : 'To continue, answer each of the questions.',
      developerText:
        "call resume(state, { inputs: { [inputId]: { action: 'accept', content } } }), or 'decline' or 'cancel'.",
    });
  if (actions.length > 0) return actions;
  return [
    {
      kind: 'resume',
      text: 'To continue, resume it.',
      developerText: 'call resume(state).',
    },
  ];
}
