import { QUARANTINE_DEATHS, READS, type SessionRow } from '../session-rows.ts';
import type { Commit, LeaseRequest, Release, SessionRequest } from '../session-store.ts';
import type { KeptRow } from './session-rules.ts';

/** Times of a lease in milliseconds, by the clock of the store. */
export interface LeaseTime {
  readonly leasedUntil: number;
  /** How long the lease is valid without a heartbeat. Release 0.1.0 did not write it. */
  readonly leaseMs?: number;
  /** Time after the lease during which no worker may claim the session. */
  readonly waitMs: number;
}

/** A session with its lease, as stores without SQL keep it. */
export type KeptLease = LeaseTime & { readonly row: KeptRow };

export const noLease: LeaseTime = { leasedUntil: 0, waitMs: 0 };

/** Counters of an execution before its first try. */
export const noAttempts: Pick<
  SessionRow,
  'tries' | 'deaths' | 'isQuarantined' | 'error' | 'parkedAt'
> = { tries: 0, deaths: 0, isQuarantined: false, error: null, parkedAt: null };

export const noRetry: Pick<SessionRow, 'retriedBy' | 'retriedAt'> = {
  retriedBy: null,
  retriedAt: null,
};

/** Fills in fields that release 0.1.0 did not write. */
export const withAttempts = <T extends KeptLease>(session: T): T => ({
  ...session,
  waitMs: session.waitMs ?? 0,
  row: { ...firstFields, ...session.row },
});

const firstFields: Partial<SessionRow> = {
  ...noAttempts,
  ...noRetry,
  closeReason: null,
  requires: 1,
};

/** Whether a worker may claim the session now. `isOut` decides whether a held lease has expired. */
export const isFree = <T extends KeptLease>(
  session: T,
  now: number,
  isOut: (held: T) => boolean,
): boolean =>
  session.row.phase === 'open' &&
  (session.row.worker === null ? isWaitOver(session, now) : isOut(session));

/**
 * Whether the wait is over. A wait that begins in the future is over too, so that a clock that was set back does not
 * extend it.
 */
const isWaitOver = ({ leasedUntil, waitMs }: LeaseTime, now: number): boolean =>
  waitMs === 0 || now >= leasedUntil + waitMs || now < leasedUntil - SET_BACK_MS;

/** A clock that reads earlier by more than this many milliseconds was set back. */
export const SET_BACK_MS = 1_000;

/** Whether only a worker that runs nothing else may claim the session. Counts an expired lease as a death. */
export const needsQuarantine = ({
  isQuarantined,
  worker,
  deaths,
  stopReason,
}: Pick<SessionRow, 'isQuarantined' | 'worker' | 'deaths' | 'stopReason'>): boolean =>
  // a stop runs nothing
  stopReason === null && (isQuarantined || (worker !== null && deaths + 1 >= QUARANTINE_DEATHS));

/** Returns the row of a free session under a new lease, or null if it may not be claimed. */
export function claimed(row: KeptRow, lease: LeaseRequest, token: number): KeptRow | null {
  const { worker, alone = false, reads = READS } = lease;
  if (row.requires > reads || (needsQuarantine(row) && !alone)) return null;
  const isDeath = row.worker !== null;
  const isCounted = isDeath && (row.isQuarantined || row.deaths < QUARANTINE_DEATHS);
  return {
    ...row,
    worker,
    token,
    tries: row.tries + 1,
    deaths: row.deaths + Number(isCounted),
    isQuarantined: row.isQuarantined || (isDeath && row.deaths + 1 >= QUARANTINE_DEATHS),
  };
}

/** Whether the commit makes progress: a step or a result. */
export const hasProgress = ({ steps = [], calls = [] }: Commit): boolean =>
  steps.length > 0 || calls.some(({ state }) => state === 'committed');

/**
 * Returns the session after a failed try, or null if the token does not hold it. `hasMore` means that a command waits.
 */
export function released<T extends KeptLease>(
  session: T,
  token: number,
  release: Release,
  { now, hasMore }: { readonly now: number; readonly hasMore: boolean },
): T | null {
  const { row } = session;
  if (row.token !== token || row.worker === null) return null;
  const next = (patch: Partial<KeptRow>, waitMs = 0): T => ({
    ...session,
    leasedUntil: now,
    waitMs,
    row: { ...row, worker: null, ...patch },
  });
  const { stopReason } = row;
  if (release.kind === 'close') {
    const { reason: closeReason, at: updatedAt } = release;
    return next({
      ...noAttempts,
      phase: hasMore ? 'open' : 'idle',
      status: 'stopped',
      stopReason: null,
      pauseReason: null,
      closeReason,
      requires: Math.max(row.requires, CLOSING_REQUIRES),
      updatedAt,
    });
  }
  const { error } = release;
  if (release.kind === 'retry') return next({ error }, stopReason === null ? release.waitMs : 0);
  if (stopReason !== null) return next({ error });
  const { tries, at } = release;
  return next({ phase: 'parked', parkedAt: at, updatedAt: at, error, tries });
}

/** Format with `closeReason`. A release that does not know it would continue a stopped execution. */
export const CLOSING_REQUIRES = 2;

/** Returns the session with a request, or the same object if nothing changes. */
export function requested<T extends KeptLease>(session: T, request: SessionRequest): T {
  const { row } = session;
  const next = (patch: Partial<KeptRow>, waitMs: number): T => ({
    ...session,
    waitMs,
    row: { ...row, ...patch },
  });
  if ('retry' in request) {
    if (row.phase !== 'parked') return session;
    // a session that killed its workers stays in quarantine
    const { isQuarantined } = row;
    const { retry: at, by = null } = request;
    const retried = { updatedAt: at, retriedAt: at, retriedBy: by };
    return next({ ...noAttempts, ...retried, isQuarantined, phase: 'open' }, 0);
  }
  if (row.phase === 'idle') return session;
  if ('pause' in request)
    return next({ pauseReason: row.pauseReason ?? request.pause }, session.waitMs);
  const stopReason = row.stopReason ?? request.stop;
  return next({ phase: 'open', stopReason, error: null, parkedAt: null }, 0);
}
