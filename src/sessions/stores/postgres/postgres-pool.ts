import { AgentError } from '../../../errors/agent-error.ts';
import type { Aborts } from '../../in-time.ts';
import {
  type Deadlines,
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
import { storeClosed } from '../store-errors.ts';
import { KeyedTurns, Turns } from '../turns.ts';

export interface DatabaseOptions {
  readonly connectionString?: string | undefined;
  readonly pool?: PoolLike | undefined;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  /** Whether statements are prepared under a name, so that each connection plans a text once. */
  readonly preparedStatements: boolean;
  readonly durability: 'process' | 'power';
  /** Runs once, before anything else. */
  prepare(pool: PoolLike, deadlines: Deadlines): Promise<void>;
}

export interface RunOptions {
  /** Statements that lock a session take turns, so that a locked row keeps one connection at most. */
  readonly session?: string;
  /** Sent once more, on another connection, where the first one broke or gave no answer: it may run twice. */
  readonly isRepeatable?: boolean;
  /** Keeps leases alive: waits for no other work of this store. */
  readonly isHeartbeat?: boolean;
  readonly timeoutMs?: number;
}

export interface Database {
  /** For the end of a writing statement's list of results: sets what its transaction waits for. */
  readonly durably: string;
  /** The same, and its transaction waits for the disk in any case. */
  readonly surely: string;
  /** The same, and its transaction never waits for the disk. */
  readonly hastily: string;
  /** A condition that holds. A statement with it gives up, instead of its connection, where a row stays locked. */
  readonly patiently: string;
  /** For statements that may touch many rows. */
  readonly longTimeoutMs: number;
  /** `operation` is for error messages. */
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
  close(): Promise<void>;
}

const TRIES = 5;
const REPEATS = 2;
/** Connections beside those for work, which heartbeats find free at any time. */
const FOR_HEARTBEATS = 2;
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
    // connections of an ended pool may still break, so ours keeps its listener
    if (options.pool) pool.removeListener('error', ignore);
    else pool.end().catch(ignore);
  };

  const opened = (): Promise<PoolLike> => {
    opening ??= open().catch((error: unknown) => {
      opening = null; // the next call tries again
      throw error;
    });
    return opening;
  };

  /** Where one connection fell silent, those that lie idle may be no better: the next statements get new ones. */
  const replace = async (old: PoolLike): Promise<void> => {
    if (options.pool || closing || (await opening) !== old) return;
    // a server that is only slow must not be flooded with new connections
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

  /** Waits for the session's turn first, then for a connection: what waits for a session keeps none. */
  const inTurn = async <T>(how: RunOptions, work: () => Promise<T>): Promise<T> => {
    if (how.isHeartbeat) return work();
    const waitMs = connectMs + statementTimeoutMs;
    const { session } = how;
    const endTurn =
      session === undefined ? ignore : await lanes.take(session, waitMs, () => noTurn(waitMs));
    try {
      const endSlot = await slots.take(connectMs, () => noConnection(connectMs));
      try {
        return await work();
      } finally {
        endSlot();
      }
    } finally {
      endTurn();
    }
  };

  const guarded = async <T>(
    operation: string,
    how: RunOptions,
    work: (pool: PoolLike, deadlines: Deadlines) => Promise<T>,
  ): Promise<T> => {
    if (closing) throw storeClosed('PostgreSQL');
    const attempt = inTurn(how, () => attempted(how, work)).catch((error: unknown) => {
      throw storeFailed(operation, error);
    });
    running.add(attempt);
    try {
      return await attempt;
    } finally {
      running.delete(attempt);
    }
  };

  /** What runs may finish, in the time that a statement has; then its connections are dropped. */
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

  const asDurable = { process: 'off', power: 'on' } as const;
  return {
    durably: `, ${waiting(asDurable[durability])}`,
    surely: `, ${waiting('on')}`,
    hastily: `, ${waiting('off')}`,
    patiently: `(select set_config('lock_timeout', '${lockMs}', true)) is not null`,
    longTimeoutMs: 6 * statementTimeoutMs,
    run,
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

/** Connections for work: of a pool that others share, one is left to heartbeats. */
function capacity({ pool, poolSize }: DatabaseOptions): number {
  if (!pool) return poolSize;
  const max = pool.options?.max ?? Number.POSITIVE_INFINITY;
  return Math.max(1, max - 1);
}

/** A server that waits for more than its own disk is left to do so. */
const waiting = (synchronousCommit: 'on' | 'off'): string => {
  const value =
    synchronousCommit === 'off'
      ? `'off'`
      : `case current_setting('synchronous_commit') when 'remote_apply' then 'remote_apply' else 'on' end`;
  return `set_config('synchronous_commit', ${value}, true)`;
};

async function ownPool(options: DatabaseOptions): Promise<PoolLike> {
  const { connectionString, poolSize, connectTimeoutMs } = options;
  const pg = await import('pg').catch((cause: unknown) => {
    throw new AgentError(
      'package_missing',
      'The PostgreSQL store needs the package pg, which is not installed. Run: npm install pg',
      { cause },
    );
  });
  return new pg.default.Pool({
    ...(connectionString !== undefined && { connectionString }),
    max: poolSize + FOR_HEARTBEATS,
    application_name: 'onward',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: connectTimeoutMs,
    allowExitOnIdle: true,
  });
}
