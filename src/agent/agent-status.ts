import { StopReason } from '../continuation/stop-reason.ts';
import { AgentStatus } from '../continuation/run-status.ts';
import type { BroadcastStatus } from './broadcast-status.ts';

export { AgentStatus, pauseKinds, type PauseKind } from '../continuation/run-status.ts';
export type { BroadcastStatus } from './broadcast-status.ts';

export interface StatusFacts {
  readonly broadcast: BroadcastStatus;
  readonly event: 'AgentStarted' | 'AgentPaused' | 'AgentFinished' | 'AgentFailed' | null;
}

/** Maps a stop reason to the status of the state. Only `completed` maps to `completed`. */
export function statusOf(stopReason: StopReason): AgentStatus {
  if (stopReason === StopReason.Completed) return AgentStatus.Completed;
  return stopReason === StopReason.ErrorForbade || stopReason === StopReason.RetryLimitReached
    ? AgentStatus.Failed
    : AgentStatus.Stopped;
}

const facts: Readonly<Record<AgentStatus, StatusFacts>> = {
  pending: { broadcast: 'idle', event: null },
  in_progress: { broadcast: 'processing', event: 'AgentStarted' },
  paused: { broadcast: 'paused', event: 'AgentPaused' },
  completed: { broadcast: 'completed', event: 'AgentFinished' },
  stopped: { broadcast: 'stopped', event: 'AgentFinished' },
  failed: { broadcast: 'failed', event: 'AgentFailed' },
};

/** Maps a status to its broadcast status and event. No other code does this mapping. */
export const statusFacts = (status: AgentStatus, stopReason: StopReason | null): StatusFacts =>
  status === AgentStatus.Stopped && stopReason === StopReason.UserRequested
    ? { broadcast: 'cancelled', event: 'AgentFinished' }
    : facts[status];

export const isOpen = (status: AgentStatus): boolean =>
  status === AgentStatus.InProgress || status === AgentStatus.Paused;

export const agentStatuses: readonly AgentStatus[] = /* @__PURE__ */ Object.values(AgentStatus);
