/** The statuses of a session in live updates. */
export const broadcastStatuses = [
  'idle',
  'processing',
  'paused',
  'completed',
  'stopped',
  'cancelled',
  'failed',
] as const;

export type BroadcastStatus = (typeof broadcastStatuses)[number];
