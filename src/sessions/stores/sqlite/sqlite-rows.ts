import type { SessionRow } from '../../session-rows.ts';
import type { SessionStore } from '../../session-store.ts';
import { bootId, machineMs } from '../machine-time.ts';

/** Store methods that take one transaction. */
type Methods = Omit<
  SessionStore,
  'name' | 'maxBytes' | 'codec' | 'close' | 'fork' | 'delete' | 'prune' | 'expire'
>;

/** Store methods as SQLite runs them: synchronous, inside a transaction of the caller. */
export type SyncStore = {
  readonly [K in keyof Methods]: (
    ...parameters: Parameters<Methods[K]>
  ) => Awaited<ReturnType<Methods[K]>>;
};

/** SQL for the key of a session in other tables, by its id. */
export const KEY = '(SELECT key FROM sessions WHERE id = ?)';

/** Number of event rows in one era, as a power of two. */
const ERA_BITS = 10;

/** SQL for the current era. */
export const NOW: string = `ifnull((SELECT max(rowid) FROM events) >> ${ERA_BITS}, 0)`;

/** SQL that reads the rows of a session in a history table by its key: era by era, in the order they were written. */
export const history = (table: string, key: string): string =>
  `eras CROSS JOIN ${table} USING (session, era) WHERE eras.session = ${key}`;

/** Tables whose rows are found by era. */
const historic = new Set(['messages', 'steps', 'events']);

/** SQL condition for the rows of a session in any table. Its key is the first parameter. */
export const ofSession = (table: string): string =>
  historic.has(table)
    ? 'session = ?1 AND era IN (SELECT era FROM eras WHERE session = ?1)'
    : 'session = ?1';

/** Tables with rows of a session, and the text columns of each. */
export const texts: readonly (readonly [table: string, columns: readonly string[]])[] = [
  ['commands', ['body']],
  ['executions', ['content_hash']],
  ['messages', ['body']],
  ['steps', ['body', 'mark']],
  ['compactions', ['body']],
  ['events', ['body']],
  ['agents', ['head']],
  ['calls', ['answer', 'result']],
  ['waits', []],
  ['blobs', ['body']],
  ['runs', ['body']],
];

/** SQL for the bytes of text columns of a row. */
export const bytesOf = (columns: readonly string[]): string =>
  columns.map((column) => `ifnull(octet_length(${column}), 0)`).join(' + ') || '0';

export const STATUS: string = `CASE phase WHEN 'open' THEN 'in_progress' WHEN 'parked' THEN 'failed' ELSE status END`;

/** Columns of a session under their names in {@link SessionRow}. */
export const SESSION: string = `id, owner, agent, ${STATUS} AS status, phase, execution_id AS executionId, head, revision, token,
  worker, leased_until AS leasedUntil, lease_token AS leaseToken, lease_boot AS leaseBoot, lease_end AS leaseEnd,
  lease_ms AS leaseMs, stop_reason AS stopReason, pause_reason AS pauseReason,
  message_count AS messageCount, step_count AS stepCount, seq, tries, deaths, quarantined, error, parked_at AS parkedAt,
  retried_by AS retriedBy, retried_at AS retriedAt,
  close_reason AS closeReason, requires, created_at AS createdAt, updated_at AS updatedAt`;

/** Counters of an execution before its first try. */
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

const runOut = (waitMs: string): string => `CASE WHEN lease_token = token
  THEN ${isOtherBoot} OR ? NOT BETWEEN lease_end - lease_ms AND lease_end + ${waitMs} - 1
  ELSE leased_until + ${waitMs} <= ? END`;

/**
 * SQL condition: whether a lease has expired and its wait is over. It uses the machine's monotonic clock, on which no
 * lease can have more time left than its length; a lease of a release without that clock uses the wall clock. The
 * parameters are {@link leaseTimes}.
 */
export const OUT: string = runOut('wait_ms');

/** The same, whether or not its wait is over. */
export const EXPIRED: string = runOut('0');

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

/** Copies rows to plain objects, because rows of SQLite have no prototype. */
export const plain = <T extends object>(rows: readonly unknown[]): T[] =>
  rows.map((row) => ({ ...(row as T) }));
