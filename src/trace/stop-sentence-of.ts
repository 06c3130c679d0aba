import { statusFacts, type BroadcastStatus } from '../agent/agent-status.ts';
import type { Session } from '../sessions/session.ts';
import { stopSentence } from './stop-sentence.ts';
import type { StopSentence } from './trace.ts';

/** The status of a session as live updates name it. */
export const broadcastStatusOf = ({
  status,
  stopReason,
}: Pick<Session, 'status' | 'stopReason'>): BroadcastStatus =>
  statusFacts(status, stopReason).broadcast;

/** Why a session stands still; null while it works or has nothing to do. */
export const stopSentenceOf = (session: Session): StopSentence | null =>
  stopSentence({
    status: broadcastStatusOf(session),
    outcome: session.outcome,
    pause: session.pause,
    pendingApprovals: session.pendingApprovals,
    allowance: session.allowance,
  });
