export const AgentStatus = {
  Pending: 'pending',
  InProgress: 'in_progress',
  Paused: 'paused',
  Completed: 'completed',
  Stopped: 'stopped',
  Failed: 'failed',
} as const;
export type AgentStatus = (typeof AgentStatus)[keyof typeof AgentStatus];

/**
 * Why a run is paused: it needs an approval, a tool or a caller requested it, the caller left `iterate`, or it is a
 * fork of a session.
 */
export const pauseKinds = ['approval', 'input', 'requested', 'handover', 'fork'] as const;
export type PauseKind = (typeof pauseKinds)[number];
