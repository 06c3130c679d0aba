import { sentence, withoutFullStop } from '../sentence.ts';
import type { Explanation, ExplanationAction, ExplanationParts } from './explanation.ts';

/** The parts of a state that an explanation reads besides its outcome. */
export interface ExplainableStatus {
  readonly status: string;
  readonly pause?: { readonly kind: string; readonly reason?: string | null } | null;
  readonly pendingApprovals?: readonly WaitingCall[];
}

interface WaitingCall {
  readonly callId: string;
  readonly tool: string;
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

function pauseText({ pause, pendingApprovals = [] }: ExplainableStatus): string {
  const [first] = pendingApprovals;
  const asks = pause?.kind === 'input' ? 'needs an answer' : 'needs approval';
  if (first && pendingApprovals.length === 1) return `${first.tool} ${asks}`;
  if (first)
    return `${pendingApprovals.length} calls ${pause?.kind === 'input' ? 'need answers' : 'need approval'}: ${toolsOf(pendingApprovals)}`;
  if (pause?.kind === 'fork') return 'this fork has not been resumed';
  const reason = withoutFullStop(pause?.reason ?? '');
  return reason === '' || reason === ON_REQUEST
    ? 'it was paused on request'
    : `it was paused: ${reason}`;
}

/** Default reason of a pause. */
const ON_REQUEST = 'on request';

const toolsOf = (calls: readonly WaitingCall[]): string =>
  [...new Set(calls.map(({ tool }) => tool))].join(', ');

function pauseActions({
  pause,
  pendingApprovals = [],
}: ExplainableStatus): readonly ExplanationAction[] {
  const callIds = pendingApprovals.map(({ callId }) => callId);
  if (callIds.length === 0)
    return [
      {
        kind: 'resume',
        text: 'To continue, resume it.',
        developerText: 'call resume(state).',
      },
    ];
  const which = callIds.length === 1 ? toolsOf(pendingApprovals) : 'each of the calls';
  if (pause?.kind === 'input')
    return [
      {
        kind: 'input',
        callIds,
        text: `To continue, answer ${which}.`,
        developerText: 'call resume(state, { inputs: { [callId]: answer } }).',
      },
    ];
  return [
    {
      kind: 'approve',
      callIds,
      text: `To continue, approve or deny ${which}.`,
      developerText:
        'call resume(state, { approvals: { [callId]: { approve: true } } }), or { deny: reason }.',
    },
  ];
}
