import { QUARANTINE_DEATHS, READS } from '../../session-rows.ts';
import type { LeaseSignal } from '../../session-store.ts';
import { CLOSING_REQUIRES } from '../attempt-rules.ts';
import { perOwner, turns } from '../owner-turns.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { bootId, machineMs } from '../machine-time.ts';
import {
  leaseTimes,
  NO_ATTEMPTS,
  OUT,
  plain,
  SESSION,
  sessionRow,
  SIGNAL,
  type SyncStore,
} from './sqlite-rows.ts';

type Leases = Pick<SyncStore, 'claim' | 'release' | 'renew' | 'signals' | 'urgent' | 'recoverable'>;

/** Whether a worker may claim the session, with the parameters of {@link OUT}. */
const FREE = `phase = 'open' AND ((worker IS NULL AND wait_ms = 0) OR ${OUT})`;
/** Assignments that write a lease of this machine. The length is 0 when a wait begins. */
const LEASE = `lease_boot = '${bootId}', lease_end = ?, lease_ms = ?, leased_until = ?`;
/** Whether the session has an expired lease, whose process died. */
const DIED = 'worker IS NOT NULL';
const NEEDS_QUARANTINE = `(quarantined OR (${DIED} AND deaths + 1 >= ${QUARANTINE_DEATHS}))`;

interface Work {
  readonly id: string;
  readonly updatedAt: string;
}

/** Implements leases and recovery. */
export function leases(db: SqliteDatabase): Leases {
  const claim = db.prepare(
    `UPDATE sessions SET token = (SELECT last + 1 FROM tokens), worker = ?, ${LEASE}, wait_ms = ?,
     lease_token = (SELECT last + 1 FROM tokens), tries = tries + 1, deaths = deaths + (${DIED} AND (quarantined OR deaths < ${QUARANTINE_DEATHS})),
     quarantined = ${NEEDS_QUARANTINE}
     WHERE id = ? AND ${FREE} AND requires <= ? AND (? OR stop_reason IS NOT NULL OR NOT ${NEEDS_QUARANTINE})
     RETURNING ${SESSION}`,
  );
  // one counter for all sessions, so that a session that is created again under the same id gets new tokens
  const countToken = db.prepare('UPDATE tokens SET last = last + 1');
  const held = 'WHERE id = ? AND token = ? AND worker IS NOT NULL';
  const retryLater = db.prepare(
    `UPDATE sessions SET worker = NULL, ${LEASE}, lease_token = token, error = ?,
     wait_ms = CASE WHEN stop_reason IS NULL THEN ? ELSE 0 END ${held}`,
  );
  const park = db.prepare(
    `UPDATE sessions SET worker = NULL, wait_ms = 0, phase = 'parked', error = ?, tries = ?, parked_at = ?,
     updated_at = ? ${held} AND stop_reason IS NULL`,
  );
  const close = db.prepare(
    `UPDATE sessions SET worker = NULL, wait_ms = 0, ${NO_ATTEMPTS}, status = 'stopped', stop_reason = NULL,
     pause_reason = NULL, close_reason = ?, requires = max(requires, ${CLOSING_REQUIRES}), updated_at = ?,
     phase = CASE WHEN EXISTS (SELECT 1 FROM commands WHERE session = key) THEN 'open' ELSE 'idle' END ${held}`,
  );
  const renew = db.prepare(
    `UPDATE sessions SET ${LEASE}, lease_token = token WHERE id = ? AND token = ? AND worker = ? RETURNING ${SIGNAL}`,
  );
  const signals = db.prepare(`SELECT ${SIGNAL} FROM sessions WHERE worker = ?`);
  const leaseFor = (ttlMs: number): readonly [number, number, number] => {
    const ms = Math.ceil(ttlMs);
    return [machineMs() + ms, ms, Date.now() + ms];
  };

  const isDue = `${FREE} AND requires <= ?`;
  const stopping = db.prepare(
    `SELECT id FROM sessions INDEXED BY sessions_stopping WHERE phase = 'open' AND stop_reason IS NOT NULL
     AND ${isDue} ORDER BY updated_at, id LIMIT ?`,
  );
  const expired = db.prepare(
    `SELECT id FROM sessions INDEXED BY sessions_held WHERE worker IS NOT NULL AND ${isDue} AND stop_reason IS NULL
     AND agent IN (SELECT value FROM json_each(?)) ORDER BY lease_end, updated_at, id LIMIT ?`,
  );
  const ofAgent = `FROM sessions INDEXED BY sessions_waiting WHERE phase = 'open' AND worker IS NULL AND agent = ?`;
  const firstOwner = db.prepare(`SELECT owner ${ofAgent} ORDER BY owner LIMIT 1`);
  const nextOwner = db.prepare(`SELECT owner ${ofAgent} AND owner > ? ORDER BY owner LIMIT 1`);
  const ofOwner = db.prepare(
    `SELECT id, updated_at AS updatedAt ${ofAgent} AND owner = ? AND ${isDue} ORDER BY updated_at, id LIMIT ?`,
  );

  /** Finds owners with one index lookup each, however many sessions they have. */
  function ownersOf(agent: string, limit: number, afterOwner: string | undefined): string[] {
    const owners: string[] = [];
    let last = afterOwner;
    while (owners.length < limit) {
      const found = last === undefined ? firstOwner.get(agent) : nextOwner.get(agent, last);
      if (!found) break;
      last = (found as { owner: string }).owner;
      owners.push(last);
    }
    return owners;
  }

  return {
    claim(sessionId, { worker, ttlMs, waitMs = 0, alone = false, reads = READS }) {
      const lease = [worker, ...leaseFor(ttlMs), Math.ceil(waitMs)] as const;
      const row = claim.get(...lease, sessionId, ...leaseTimes(), reads, Number(alone));
      if (!row) return null;
      countToken.run();
      return sessionRow(row);
    },
    release(sessionId, token, release) {
      const later = (error: string, waitMs: number): boolean =>
        Number(retryLater.run(...leaseFor(0), error, Math.ceil(waitMs), sessionId, token).changes) >
        0;
      if (release.kind === 'retry') return later(release.error, release.waitMs);
      if (release.kind === 'close')
        return Number(close.run(release.reason, release.at, sessionId, token).changes) > 0;
      const { error, tries, at } = release;
      return (
        Number(park.run(error, tries, at, at, sessionId, token).changes) > 0 || later(error, 0)
      );
    },
    renew: ({ worker, ttlMs, leases: named }) =>
      named.flatMap(({ sessionId, token }) =>
        plain<LeaseSignal>(renew.all(...leaseFor(ttlMs), sessionId, token, worker)),
      ),
    signals: (worker) => plain<LeaseSignal>(signals.all(worker)),
    urgent({ agents, limit, reads = READS }) {
      const stops = stopping.all(...leaseTimes(), reads, limit);
      const left = expired.all(...leaseTimes(), reads, JSON.stringify(agents), limit);
      return ([...stops, ...left] as Work[]).slice(0, limit).map(({ id }) => id);
    },
    recoverable: ({ agents, limit, reads = READS }) =>
      agents.map(({ agent, afterOwner }) => {
        const owners = ownersOf(agent, limit, afterOwner);
        const most = perOwner(limit, owners.length);
        const found = owners.map(
          (owner) => ofOwner.all(agent, owner, ...leaseTimes(), reads, most) as Work[],
        );
        const isEnd = owners.length < limit;
        return {
          ids: turns(found).slice(0, limit),
          afterOwner: isEnd ? null : (owners.at(-1) ?? null),
        };
      }),
  };
}
