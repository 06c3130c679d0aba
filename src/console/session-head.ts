import type { SessionSummary } from '../server/api.ts';
import type { OpenSession } from './session-pages.ts';
import { statusWords } from './status-text.ts';
import type { ActiveSession } from './use-active-session.ts';

export interface SessionHead {
  readonly heading: string | null;
  /** The status with its reason; null where there is none to tell. */
  readonly words: string | null;
  readonly agent: string | null;
  /** As the list should show it; null as long as only the list knows. */
  readonly open: OpenSession | null;
}

/** What stands in the bar and in the title of the window. The list often knows it before the session is read. */
export function sessionHead(
  sessionId: string | null,
  active: Pick<ActiveSession, 'detail' | 'status' | 'problem'> &
    Pick<ActiveSession['session'], 'approvals' | 'stop'> & {
      /** The number of the step at work, as the view says it; null while it is not known. */
      readonly step: number | null;
    },
  listed: SessionSummary | null,
): SessionHead {
  const { detail, status, approvals, stop, problem, step } = active;
  if (sessionId === null) return { heading: 'New session', words: null, agent: null, open: null };
  if (problem?.isNotFound)
    return { heading: 'Session not found', words: null, agent: null, open: null };
  const title = detail?.title ?? listed?.title ?? null;
  const waiting = Math.max(approvals.length, detail?.pendingApprovals.length ?? 0);
  const stopReason = stop?.stop_reason ?? detail?.stopReason ?? null;
  const words = detail ? statusWords({ status, stopReason, approvals: waiting }) : null;
  return {
    heading: title ?? (detail ? 'Untitled' : null),
    words,
    agent: detail?.agent ?? listed?.agent ?? null,
    open:
      words === null
        ? null
        : { id: sessionId, title, status, ...reasonOf(status, words, approvals, step) },
  };
}

/** In the words of the list, so that a row reads the same before and after the list is read again. */
function reasonOf(
  status: ActiveSession['status'],
  words: string,
  approvals: ActiveSession['session']['approvals'],
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
  if (status === 'processing' && step !== null)
    return { reason: `Working · step ${step}`, isWhole: true };
  return { reason: words, isWhole: false };
}
