import { hasLostWorker, type SessionRow } from './session-rows.ts';
import type { AttentionTimes } from './session-query.ts';

/**
 * Why a session needs a person: it gave up, nothing works on it although it has work, it failed, or it has waited long
 * for a person.
 */
export type Attention = 'gave_up' | 'stuck' | 'failed' | 'waiting';

const MINUTE = 60_000;
/** An open session without a worker needs attention after this time. */
const STUCK_MS = 5 * MINUTE;
/** A paused session needs attention after this time. */
const WAITING_MS = 60 * MINUTE;
/** A failed session needs attention for this time. */
const FAILED_MS = 24 * 60 * MINUTE;

/** Returns the times that divide sessions; `now` is in milliseconds. */
export const attentionTimes = (now: number): AttentionTimes => ({
  pausedBefore: new Date(now - WAITING_MS).toISOString(),
  failedFrom: new Date(now - FAILED_MS).toISOString(),
  waitingBefore: new Date(now - STUCK_MS).toISOString(),
});

/** Returns why a session needs a person; null if it does not. */
export function attentionOf(row: SessionRow, times: AttentionTimes): Attention | null {
  const { phase, worker, status, updatedAt } = row;
  switch (phase) {
    case 'parked':
      return 'gave_up';
    case 'paused':
      return updatedAt < times.pausedBefore ? 'waiting' : null;
    case 'open':
      return (worker === null ? updatedAt < times.waitingBefore : hasLostWorker(row))
        ? 'stuck'
        : null;
    case 'idle':
      return status === 'failed' && updatedAt >= times.failedFrom ? 'failed' : null;
  }
}
