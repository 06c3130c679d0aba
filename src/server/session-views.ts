import { statusFacts, type AgentStatus, type BroadcastStatus } from '../agent/agent-status.ts';
import { outcomeWithFacts } from '../continuation/with-facts.ts';
import type { Session } from '../sessions/session.ts';
import { reasonText, stopSentenceOf } from '../trace/index.ts';
import type { SessionDetail, SessionSummary } from './api.ts';

export const wireStatus = ({ status, stopReason }: Session): BroadcastStatus =>
  statusFacts(status, stopReason).broadcast;

/** Maps a status of the wire to that of the store; the reason distinguishes `stopped` and `cancelled`. */
export const storedStatus: Readonly<Record<BroadcastStatus, AgentStatus>> = {
  idle: 'pending',
  processing: 'in_progress',
  paused: 'paused',
  completed: 'completed',
  stopped: 'stopped',
  cancelled: 'stopped',
  failed: 'failed',
};

export function summaryOf(session: Session): SessionSummary {
  const { id, agent, title, executionId, messageCount, stepCount, createdAt, updatedAt } = session;
  const { phase, error, parkedAt, tries, imported } = session;
  return {
    id,
    agent,
    title,
    status: wireStatus(session),
    phase,
    error,
    parkedAt,
    tries,
    reason: reasonText(session),
    waitingFor: [...session.pendingApprovals, ...session.pendingInputs].map(({ callId, tool }) => ({
      callId,
      tool,
    })),
    executionId,
    messageCount,
    stepCount,
    createdAt,
    updatedAt,
    ...(imported && { imported }),
  };
}

export function detailOf(session: Session): SessionDetail {
  const { owner: _owner, outcome, ...rest } = session;
  return {
    ...rest,
    status: wireStatus(session),
    reason: reasonText(session),
    outcome: outcome && outcomeWithFacts(outcome),
    stop: stopSentenceOf(session),
  };
}
