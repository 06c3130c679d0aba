import { statusFacts, type BroadcastStatus } from '../agent/agent-status.ts';
import type { Session } from '../sessions/session.ts';
import { stopSentence } from './stop-sentence.ts';
import type { StopSentence } from './trace.ts';

/** Returns the status of a session with the names of live updates. */
export const broadcastStatusOf = ({
  status,
  stopReason,
}: Pick<Session, 'status' | 'stopReason'>): BroadcastStatus =>
  statusFacts(status, stopReason).broadcast;

/** Explains why a session stopped or paused; null while it is busy or has nothing to do. */
export const stopSentenceOf = (session: Session): StopSentence | null =>
  stopSentence({
    status: broadcastStatusOf(session),
    outcome: session.outcome,
    pause: session.pause,
    pendingApprovals: session.pendingApprovals,
    pendingInputs: session.pendingInputs,
    allowance: session.allowance,
    ...(session.imported && { imported: session.imported }),
  });
