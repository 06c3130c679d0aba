import { QUARANTINE_DEATHS, READS, type SessionRow } from '../session-rows.ts';
import type { Commit, LeaseRequest, Release, SessionRequest } from '../session-store.ts';
import type { KeptRow } from './session-rules.ts';

/** The times of a lease, by the clock of the store. */
export interface LeaseTime {
  readonly leasedUntil: number;
  /** How long the lease is good without a beat. Release 0.1.0 did not say. */
  readonly leaseMs?: number;
  /** Set when a lease expires or an attempt fails: no worker may claim the session before this time. */
  readonly waitMs: number;
}

/** A session with its lease, as stores without SQL keep it. */
export type KeptLease = LeaseTime & { readonly row: KeptRow };

export const noLease: LeaseTime = { leasedUntil: 0, waitMs: 0 };

/** The counters of an execution without an attempt. */
export const noAttempts: Pick<
  SessionRow,
  'tries' | 'deaths' | 'isQuarantined' | 'error' | 'parkedAt'
> = { tries: 0, deaths: 0, isQuarantined: false, error: null, parkedAt: null };

/** A session as release 0.1.0 or this one has written it. */
export const withAttempts = <T extends KeptLease>(session: T): T => ({
  ...session,
  waitMs: session.waitMs ?? 0,
  row: { ...firstFields, ...session.row },
});

const firstFields: Partial<SessionRow> = { ...noAttempts, closeReason: null, requires: 1 };

/** Whether a worker may claim the session now; `isOut` judges a lease that a worker holds. */
export const isFree = <T extends KeptLease>(
  session: T,
  now: number,
  isOut: (held: T) => boolean,
): boolean =>
  session.row.phase === 'open' &&
  (session.row.worker === null ? isWaitOver(session, now) : isOut(session));

/** A clock that is set back must not make a wait longer: whose beginning is in the future is over. */
const isWaitOver = ({ leasedUntil, waitMs }: LeaseTime, now: number): boolean =>
  waitMs === 0 || now >= leasedUntil + waitMs || now < leasedUntil - SET_BACK_MS;

/** A clock that says less than before by more than this was set back. */
export const SET_BACK_MS = 1_000;

/** Whether only a worker that runs nothing else may claim it: a lease that ran out counts already. */
export const needsQuarantine = ({
  isQuarantined,
  worker,
  deaths,
  stopReason,
}: Pick<SessionRow, 'isQuarantined' | 'worker' | 'deaths' | 'stopReason'>): boolean =>
  // to stop it, nothing is run
  stopReason === null && (isQuarantined || (worker !== null && deaths + 1 >= QUARANTINE_DEATHS));

/** The row of a free session under a new lease, or null where it may not be had. */
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

/** Whether the work has come further: a step or a result. */
export const hasProgress = ({ steps = [], calls = [] }: Commit): boolean =>
  steps.length > 0 || calls.some(({ state }) => state === 'committed');

/** The session after a try that failed; null where the token does not hold it. `hasMore`: a command waits. */
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

/** A release that does not know `closeReason` would continue what was stopped. */
export const CLOSING_REQUIRES = 2;

/** The session with a request; the same object where it changes nothing. */
export function requested<T extends KeptLease>(session: T, request: SessionRequest): T {
  const { row } = session;
  const next = (patch: Partial<KeptRow>, waitMs: number): T => ({
    ...session,
    waitMs,
    row: { ...row, ...patch },
  });
  if ('retry' in request) {
    if (row.phase !== 'parked') return session;
    // a session that killed its workers stays away from others
    const { isQuarantined } = row;
    return next({ ...noAttempts, isQuarantined, phase: 'open', updatedAt: request.retry }, 0);
  }
  if (row.phase === 'idle') return session;
  if ('pause' in request)
    return next({ pauseReason: row.pauseReason ?? request.pause }, session.waitMs);
  const stopReason = row.stopReason ?? request.stop;
  return next({ phase: 'open', stopReason, error: null, parkedAt: null }, 0);
}
