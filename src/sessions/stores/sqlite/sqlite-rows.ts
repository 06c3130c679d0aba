import type { SessionRow } from '../../session-rows.ts';
import type { SessionStore } from '../../session-store.ts';
import { bootId, machineMs } from '../machine-time.ts';

/** Those that take more than one transaction are left out. */
type Methods = Omit<
  SessionStore,
  'name' | 'maxBytes' | 'codec' | 'close' | 'fork' | 'delete' | 'prune' | 'expire'
>;

/** The store methods as SQLite runs them: synchronous, inside a transaction of the caller. */
export type SyncStore = {
  readonly [K in keyof Methods]: (
    ...parameters: Parameters<Methods[K]>
  ) => Awaited<ReturnType<Methods[K]>>;
};

/** Finds the key that other tables know a session by, from its id. */
export const KEY = '(SELECT key FROM sessions WHERE id = ?)';

/** Commits of one era, as a power of two. */
const ERA_BITS = 10;

/** The era of what is written now. */
export const NOW: string = `ifnull((SELECT max(rowid) FROM events) >> ${ERA_BITS}, 0)`;

/** Joins the rows of a session, by its key, to a table of its history: era by era, in the order they were written. */
export const history = (table: string, key: string): string =>
  `eras CROSS JOIN ${table} USING (session, era) WHERE eras.session = ${key}`;

/** Tables whose rows are found by era. */
const historic = new Set(['messages', 'steps', 'events']);

/** Picks the rows of the session, whose key is the first parameter, in any table. */
export const ofSession = (table: string): string =>
  historic.has(table)
    ? 'session = ?1 AND era IN (SELECT era FROM eras WHERE session = ?1)'
    : 'session = ?1';

/** The tables that hold rows of a session, and the texts of each. */
export const texts: readonly (readonly [table: string, columns: readonly string[]])[] = [
  ['commands', ['body']],
  ['executions', ['content_hash']],
  ['messages', ['body']],
  ['steps', ['body', 'mark']],
  ['events', ['body']],
  ['agents', ['head']],
  ['calls', ['answer', 'result']],
  ['waits', []],
  ['blobs', ['body']],
];

/** The bytes of some texts of a row. */
export const bytesOf = (columns: readonly string[]): string =>
  columns.map((column) => `ifnull(octet_length(${column}), 0)`).join(' + ') || '0';

export const STATUS: string = `CASE phase WHEN 'open' THEN 'in_progress' WHEN 'parked' THEN 'failed' ELSE status END`;

/** Every column of a session under the name it has in {@link SessionRow}. */
export const SESSION: string = `id, owner, agent, ${STATUS} AS status, phase, execution_id AS executionId, head, revision, token,
  worker, leased_until AS leasedUntil, lease_token AS leaseToken, lease_boot AS leaseBoot, lease_end AS leaseEnd,
  lease_ms AS leaseMs, stop_reason AS stopReason, pause_reason AS pauseReason,
  message_count AS messageCount, step_count AS stepCount, seq, tries, deaths, quarantined, error, parked_at AS parkedAt,
  close_reason AS closeReason, requires, created_at AS createdAt, updated_at AS updatedAt`;

/** The counters of an execution without an attempt. */
export const NO_ATTEMPTS = `tries = 0, deaths = 0, quarantined = 0, error = NULL, parked_at = NULL`;

export const SIGNAL = `id AS sessionId, token, stop_reason AS stopReason, pause_reason AS pauseReason`;

export const RECEIPT = `phase, stop_reason AS stopReason, pause_reason AS pauseReason`;

interface KeptLease {
  readonly leasedUntil: number;
  readonly leaseToken: number;
  readonly leaseBoot: string;
  readonly leaseEnd: number;
  readonly leaseMs: number;
}

const isOtherBoot = bootId === '' ? 'FALSE' : `lease_boot NOT IN ('', '${bootId}')`;

/**
 * Whether a lease has run out and its wait is over. By the machine's own time, of which no lease can have more left than
 * it began with; one of a release that knows no such time by the wall clock. The parameters are {@link leaseTimes}.
 */
export const OUT: string = `CASE WHEN lease_token = token
  THEN ${isOtherBoot} OR ? NOT BETWEEN lease_end - lease_ms AND lease_end + wait_ms - 1
  ELSE leased_until + wait_ms <= ? END`;

export const leaseTimes = (): readonly [number, number] => [machineMs(), Date.now()];

function isGood(token: number, lease: KeptLease): boolean {
  const { leasedUntil, leaseToken, leaseBoot, leaseEnd, leaseMs } = lease;
  if (leaseToken !== token) return leasedUntil > Date.now();
  const now = machineMs();
  const isThisBoot = leaseBoot === '' || bootId === '' || leaseBoot === bootId;
  return isThisBoot && now < leaseEnd && now >= leaseEnd - leaseMs;
}

export function sessionRow(found: unknown): SessionRow {
  const { leasedUntil, leaseToken, leaseBoot, leaseEnd, leaseMs, quarantined, ...row } =
    found as Omit<SessionRow, 'isLeased' | 'isQuarantined'> & KeptLease & { quarantined: number };
  const lease = { leasedUntil, leaseToken, leaseBoot, leaseEnd, leaseMs };
  return {
    ...row,
    isQuarantined: quarantined === 1,
    isLeased: row.worker !== null && isGood(row.token, lease),
  };
}

/** Rows as plain objects: SQLite's have no prototype. */
export const plain = <T extends object>(rows: readonly unknown[]): T[] =>
  rows.map((row) => ({ ...(row as T) }));
