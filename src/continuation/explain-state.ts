import { sentence, withoutFullStop } from '../sentence.ts';
import { explainOutcome, outcomeParts, type ExplanationParts } from './explain-outcome.ts';
import type { ExplainOptions, Explanation, ExplanationAction } from './explanation.ts';
import type { ContinuationOutcomeJSON } from './outcome.ts';

/** What an explanation reads of a state. `AgentState`, its JSON and sessions fit by shape. */
export interface ExplainableState {
  readonly status: string;
  readonly lastContinuationOutcome: ContinuationOutcomeJSON | null;
  readonly pause?: { readonly kind: string; readonly reason?: string | null } | null;
  readonly pendingApprovals?: readonly WaitingCall[];
}

interface WaitingCall {
  readonly callId: string;
  readonly tool: string;
}

/** Explains where a run stands: stopped, paused, parked, at work or not begun. */
export function explainState(state: ExplainableState, options: ExplainOptions = {}): Explanation {
  const { status, lastContinuationOutcome: outcome } = state;
  const isOver = status !== 'paused' && status !== 'in_progress' && status !== 'pending';
  if (isOver && outcome) return explainOutcome(outcome, options);
  const { lead, because, detail } = stateParts(state);
  return {
    headline: because === '' ? sentence(lead) : `${lead} ${because}.`,
    detail,
    decidedBy: null,
    stopReason: null,
    actions: status === 'paused' ? pauseActions(state) : [],
  };
}

/** The sentence of a state in its parts; `because` is empty where there is no reason to give. */
export function stateParts(state: ExplainableState): ExplanationParts {
  const { status, lastContinuationOutcome: outcome } = state;
  if (status === 'paused')
    return { lead: 'Waiting because', because: pauseText(state), detail: '' };
  if (status === 'in_progress') return { lead: 'Working', because: '', detail: '' };
  if (status === 'pending') return { lead: 'Nothing has run yet', because: '', detail: '' };
  if (outcome) return outcomeParts(outcome);
  return status === 'failed'
    ? { lead: 'Failed because', because: 'an error ended it', detail: '' }
    : { lead: 'Stopped', because: '', detail: '' };
}

function pauseText({ pause, pendingApprovals = [] }: ExplainableState): string {
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

/** The reason of a pause where the caller gave none. */
const ON_REQUEST = 'on request';

const toolsOf = (calls: readonly WaitingCall[]): string =>
  [...new Set(calls.map(({ tool }) => tool))].join(', ');

function pauseActions({
  pause,
  pendingApprovals = [],
}: ExplainableState): readonly ExplanationAction[] {
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
