import type { Aborts } from '../../in-time.ts';
import {
  type Deadlines,
  guardClient,
  ignore,
  inTransaction,
  onClient,
  type PoolLike,
  type RunQuery,
  statementName,
} from './postgres-client.ts';
import {
  isNoAnswer,
  isAmbiguous,
  isPassing,
  noAnswer,
  noConnection,
  noTurn,
  storeFailed,
} from './postgres-errors.ts';
import { type OwnPoolOptions, ownPool } from './postgres-own-pool.ts';
import { storeClosed } from '../store-errors.ts';
import { KeyedTurns, Turns } from '../turns.ts';

export interface DatabaseOptions extends OwnPoolOptions {
  readonly pool?: PoolLike | undefined;
  readonly statementTimeoutMs: number;
  /** Whether to use named prepared statements, so that each connection plans a statement once. */
  readonly preparedStatements: boolean;
  readonly durability: 'process' | 'power';
  /** Prepares the database. Runs once, before anything else. */
  prepare(pool: PoolLike, deadlines: Deadlines): Promise<void>;
}

export interface RunOptions {
  /**
   * Session that the statement locks. Its statements take turns, so that a locked row occupies at most one connection.
   */
  readonly session?: string;
  /**
   * Whether the statement may run twice. It is then sent again on another connection if the first one broke or did not
   * answer.
   */
  readonly isRepeatable?: boolean;
  /** Whether the statement is part of {@link Database.during}, so that it still runs while the store closes. */
  readonly isInside?: boolean;
  /** Whether the statement renews leases or reads signals. It then waits for no other work of this store. */
  readonly isHeartbeat?: boolean;
  readonly timeoutMs?: number;
}

export interface Database {
  /** SQL for the end of a write's result list. Sets `synchronous_commit` of its transaction by `durability`. */
  readonly durably: string;
  /** Like `durably`, but its transaction always waits for the disk. */
  readonly surely: string;
  /** Like `durably`, but its transaction never waits for the disk. */
  readonly hastily: string;
  /**
   * SQL condition that is always true and sets `lock_timeout`, so that on a locked row the statement times out before
   * its connection does.
   */
  readonly patiently: string;
  /** SQL that sets `lock_timeout`. Default: as `patiently` does. */
  patience(lockMs?: number): string;
  /** Time limit for statements that may change many rows, in milliseconds. */
  readonly longTimeoutMs: number;
  /** Reads rows. `operation` is for error messages. */
  read<Row>(operation: string, text: string, values?: readonly unknown[]): Promise<Row[]>;
  run<Row>(
    operation: string,
    text: string,
    values?: readonly unknown[],
    how?: RunOptions,
  ): Promise<Row[]>;
  transaction<T>(
    operation: string,
    work: (run: RunQuery) => Promise<T>,
    how?: RunOptions,
  ): Promise<T>;
  /** Runs work of several statements in the session's turn. `close` waits for it. Its statements have `isInside` set. */
  during<T>(
    operation: string,
    how: Pick<RunOptions, 'session'>,
    work: () => Promise<T>,
  ): Promise<T>;
  close(): Promise<void>;
}

const TRIES = 5;
const REPEATS = 2;
const LONGEST_CLOSE_MS = 5_000;

export function openDatabase(options: DatabaseOptions): Database {
  const { connectTimeoutMs: connectMs, statementTimeoutMs, durability } = options;
  const lockMs = Math.ceil(statementTimeoutMs * 0.8);
  const slots = new Turns(capacity(options));
  const lanes = new KeyedTurns();
  const running = new Set<Promise<unknown>>();
  const aborts: Aborts = new Set();
  let isAborted = false;
  let replacedAt = Number.NEGATIVE_INFINITY;
  let opening: Promise<PoolLike> | null = null;
  let closing: Promise<void> | null = null;

  const makePool = async (): Promise<PoolLike> => {
    const pool = options.pool ?? (await ownPool(options));
    pool.on('error', ignore); // an idle connection broke, and the pool has dropped it
    pool.on('connect', guardClient);
    return pool;
  };
  const open = async (): Promise<PoolLike> => {
    const pool = await makePool();
    try {
      await options.prepare(pool, { connectMs, statementMs: statementTimeoutMs, aborts });
    } catch (error) {
      leave(pool);
      throw error;
    }
    return pool;
  };

  const leave = (pool: PoolLike): void => {
    // connections of an ended pool may still break, so our own pool keeps its listener
    if (!options.pool) return void pool.end().catch(ignore);
    pool.removeListener('error', ignore);
    pool.removeListener('connect', guardClient);
  };

  const opened = (): Promise<PoolLike> => {
    opening ??= open().catch((error: unknown) => {
      opening = null; // the next call tries again
      throw error;
    });
    return opening;
  };

  /** Replaces the pool after one connection went silent, because its idle connections may be dead too. */
  const replace = async (old: PoolLike): Promise<void> => {
    if (options.pool || closing || (await opening) !== old) return;
    // do not flood a slow server with new connections
    if (performance.now() - replacedAt < statementTimeoutMs) return;
    replacedAt = performance.now();
    opening = makePool();
    leave(old);
  };

  const attempted = async <T>(
    how: RunOptions,
    work: (pool: PoolLike, deadlines: Deadlines) => Promise<T>,
  ): Promise<T> => {
    const statementMs = Math.ceil(how.timeoutMs ?? statementTimeoutMs);
    const deadlines = { connectMs, statementMs, aborts };
    for (let tries = 1; ; tries++) {
      let pool: PoolLike | null = null;
      try {
        if (isAborted) throw storeClosed('PostgreSQL');
        pool = await opened();
        return await work(pool, deadlines);
      } catch (error) {
        if (pool && isNoAnswer(error)) await replace(pool);
        const isWorthIt =
          (tries < TRIES && isPassing(error)) ||
          (tries <= REPEATS && how.isRepeatable === true && isAmbiguous(error));
        if (!isWorthIt) throw error;
      }
    }
  };

  const turnMs = connectMs + statementTimeoutMs;
  const endless = Promise.resolve(ignore);
  const inTurn = async <T>({ session }: RunOptions, work: () => Promise<T>): Promise<T> => {
    const end = await (session === undefined
      ? endless
      : lanes.take(session, turnMs, () => noTurn(turnMs)));
    try {
      return await work();
    } finally {
      end();
    }
  };

  /** Runs a statement when a connection is free. Heartbeats do not wait for one. */
  const inSlot = async <T>({ isHeartbeat }: RunOptions, work: () => Promise<T>): Promise<T> => {
    const end = await (isHeartbeat
      ? endless
      : slots.take(connectMs, () => noConnection(connectMs)));
    try {
      return await work();
    } finally {
      end();
    }
  };

  const guarded = <T>(
    operation: string,
    how: RunOptions,
    work: (pool: PoolLike, deadlines: Deadlines) => Promise<T>,
  ): Promise<T> => {
    const run = (): Promise<T> => inSlot(how, () => attempted(how, work));
    if (!how.isInside) return during(operation, how, run);
    return run().catch((error: unknown) => {
      throw storeFailed(operation, error);
    });
  };

  // the session's turn comes first, so that work that waits for a session occupies no connection
  const during: Database['during'] = async (operation, how, work) => {
    if (closing) throw storeClosed('PostgreSQL');
    const attempt = inTurn(how, work).catch((error: unknown) => {
      throw storeFailed(operation, error);
    });
    running.add(attempt);
    try {
      return await attempt;
    } finally {
      running.delete(attempt);
    }
  };

  /** Lets running statements finish within the statement timeout, at most 5 seconds, then drops their connections. */
  const close = async (): Promise<void> => {
    const abortAll = (): void => {
      isAborted = true;
      for (const abort of Array.from(aborts)) abort(noAnswer(graceMs));
    };
    const graceMs = Math.min(statementTimeoutMs, LONGEST_CLOSE_MS);
    const timer = setTimeout(abortAll, graceMs);
    await Promise.allSettled(running);
    clearTimeout(timer);
    const pool = await opening?.catch(() => null);
    if (pool) leave(pool);
  };

  const run: Database['run'] = <Row>(
    operation: string,
    text: string,
    values: readonly unknown[] = [],
    how: RunOptions = {},
  ): Promise<Row[]> =>
    guarded(operation, how, (pool, deadlines) =>
      onClient(pool, deadlines, async (send) => {
        const query = { text, values: [...values] };
        const name = options.preparedStatements ? statementName(text) : undefined;
        return (await send(name === undefined ? query : { ...query, name })) as Row[];
      }),
    );

  const patience = (ms = lockMs): string => `set_config('lock_timeout', '${ms}', true)`;
  const asDurable = { process: 'off', power: 'on' } as const;
  return {
    durably: `, ${waiting(asDurable[durability])}`,
    surely: `, ${waiting('on')}`,
    hastily: `, ${waiting('off')}`,
    patiently: `(select ${patience()}) is not null`,
    patience,
    longTimeoutMs: 6 * statementTimeoutMs,
    run,
    during,
    read: (operation, text, values) => run(operation, text, values, { isRepeatable: true }),
    transaction: (operation, work, how = {}) => {
      const settings = [
        `set local lock_timeout = ${lockMs}`,
        `select ${waiting(asDurable[durability])}`,
      ];
      return guarded(operation, how, (pool, deadlines) =>
        inTransaction(pool, deadlines, settings, work),
      );
    },
    close: () => (closing ??= close()),
  };
}

/** Returns the number of connections for work. Of a shared pool, one is reserved for heartbeats. */
function capacity({ pool, poolSize }: DatabaseOptions): number {
  if (!pool) return poolSize;
  const max = pool.options?.max ?? Number.POSITIVE_INFINITY;
  return Math.max(1, max - 1);
}

/**
 * Returns SQL that sets `synchronous_commit`. Keeps `remote_apply` of the server, which waits for more than its own
 * disk.
 */
const waiting = (synchronousCommit: 'on' | 'off'): string => {
  const value =
    synchronousCommit === 'off'
      ? `'off'`
      : `case current_setting('synchronous_commit') when 'remote_apply' then 'remote_apply' else 'on' end`;
  return `set_config('synchronous_commit', ${value}, true)`;
};
