import type { SessionSummary } from '../server/api.ts';
import type { OpenSession } from './session-pages.ts';
import { statusText } from './status-text.ts';
import type { ActiveSession } from './use-active-session.ts';

export interface SessionHead {
  readonly heading: string | null;
  /** Status with its reason; null if there is none to show. */
  readonly words: string | null;
  readonly agent: string | null;
  /** Facts for the list; null while only the list knows the session. */
  readonly open: OpenSession | null;
}

/** Returns the title of the bar and of the window. The list often has it before the session is loaded. */
export function sessionHead(
  sessionId: string | null,
  active: Pick<ActiveSession, 'detail' | 'status' | 'problem'> &
    Pick<ActiveSession['session'], 'approvals' | 'inputs' | 'stop'> & {
      /** Number of the current step in the view; null while unknown. */
      readonly step: number | null;
    },
  listed: SessionSummary | null,
): SessionHead {
  const { detail, status, approvals, inputs, stop, problem, step } = active;
  if (sessionId === null) return { heading: 'New session', words: null, agent: null, open: null };
  if (problem?.isNotFound)
    return { heading: 'Session not found', words: null, agent: null, open: null };
  const title = detail?.title ?? listed?.title ?? null;
  const waiting = Math.max(approvals.length, detail?.pendingApprovals.length ?? 0);
  const asked = Math.max(inputs.length, detail?.pendingInputs.length ?? 0);
  const stopReason = stop?.stop_reason ?? detail?.stopReason ?? null;
  const words = detail
    ? statusText({ status, stopReason, approvals: waiting, inputs: asked })
    : null;
  return {
    heading: title ?? (detail ? 'Untitled' : null),
    words,
    agent: detail?.agent ?? listed?.agent ?? null,
    open:
      words === null
        ? null
        : { id: sessionId, title, status, ...reasonOf(status, words, active, step) },
  };
}

/** Returns the reason with the list's text, so that a row does not change when the list is read again. */
function reasonOf(
  status: ActiveSession['status'],
  words: string,
  { approvals, inputs }: Pick<ActiveSession['session'], 'approvals' | 'inputs'>,
  step: number | null,
): Pick<OpenSession, 'reason' | 'isWhole'> {
  const [first] = approvals;
  if (status === 'paused' && first)
    return {
      reason:
        approvals.length === 1
          ? `${first.tool} needs approval`
          : `${approvals.length} approvals needed`,
      isWhole: true,
    };
  const [question] = inputs;
  if (status === 'paused' && question)
    return {
      reason:
        inputs.length === 1
          ? `${question.tool} needs an answer`
          : `${inputs.length} answers needed`,
      isWhole: true,
    };
  if (status === 'processing' && step !== null)
    return { reason: `Working · step ${step}`, isWhole: true };
  return { reason: words, isWhole: false };
}
