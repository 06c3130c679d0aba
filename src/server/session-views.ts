import { statusFacts, type AgentStatus, type BroadcastStatus } from '../agent/agent-status.ts';
import { outcomeWithFacts } from '../continuation/with-facts.ts';
import type { Session } from '../sessions/session.ts';
import { reasonText, stopSentenceOf } from '../trace/index.ts';
import type { OperatorSummary, SessionDetail, SessionSummary } from './api.ts';

export const wireStatus = ({
  status,
  stopReason,
}: Pick<Session, 'status' | 'stopReason'>): BroadcastStatus =>
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
  const { phase, error, parkedAt, tries, info, run, attention = null, imported } = session;
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
    cost: info.cost,
    model: run?.model ?? null,
    errors: run?.errors ?? 0,
    attention,
    createdAt,
    updatedAt,
    ...(imported && { imported }),
  };
}

/** Returns what operators see of a session: nothing of its conversation. */
export const operatorSummaryOf = (session: Session): OperatorSummary => ({
  ...summaryOf(session),
  title: null,
  owner: session.owner,
});

export function detailOf(session: Session): SessionDetail {
  const { owner: _owner, outcome, run: _run, attention: _attention, ...rest } = session;
  return {
    ...rest,
    status: wireStatus(session),
    reason: reasonText(session),
    outcome: outcome && outcomeWithFacts(outcome),
    stop: stopSentenceOf(session),
  };
}
