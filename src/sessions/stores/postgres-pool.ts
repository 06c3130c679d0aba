import { AgentError } from '../../errors/agent-error.ts';
import { isPassing, storeFailed } from './postgres-errors.ts';
import { storeClosed } from './store-errors.ts';

/** The part of a `pg` Pool that the store uses. */
export interface PoolLike {
  query(query: PoolQuery): Promise<{ readonly rows: readonly unknown[] }>;
  connect(): Promise<PoolClientLike>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

export interface PoolClientLike extends Pick<PoolLike, 'query' | 'on' | 'removeListener'> {
  release(destroy?: boolean): void;
}

export interface PoolQuery {
  name?: string;
  text: string;
  values?: unknown[];
}

export interface PoolOptions {
  readonly connectionString?: string | undefined;
  readonly pool?: PoolLike | undefined;
  readonly poolSize: number;
  /** What `synchronous_commit` is set to in each transaction; null leaves it as the server has it. */
  readonly synchronousCommit: 'on' | 'off' | null;
  /** Runs once, before anything else. */
  prepare(pool: PoolLike): Promise<void>;
}

/** Runs one statement and gives its rows. */
export type RunQuery = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

export interface Database {
  /** For the end of a writing statement's list of results: sets what its transaction waits for. */
  readonly durably: string;
  /** The same, and its transaction waits for the disk in any case. */
  readonly surely: string;
  /** The same, and its transaction never waits for the disk. */
  readonly hastily: string;
  /** Prepared under a name, so that each connection plans a text once. `operation` is for error messages. */
  run<Row>(operation: string, text: string, values?: readonly unknown[]): Promise<Row[]>;
  transaction<T>(operation: string, work: (run: RunQuery) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const TRIES = 5;
const CONNECT_TIMEOUT_MS = 30_000;

export function openDatabase(options: PoolOptions): Database {
  const { synchronousCommit } = options;
  const running = new Set<Promise<unknown>>();
  let opening: Promise<PoolLike> | null = null;
  let closing: Promise<void> | null = null;

  const open = async (): Promise<PoolLike> => {
    const pool = options.pool ?? (await makePool(options));
    pool.on('error', ignore); // an idle connection broke, and the pool has dropped it
    try {
      await options.prepare(pool);
    } catch (error) {
      await leave(pool);
      throw error;
    }
    return pool;
  };

  const leave = async (pool: PoolLike): Promise<void> => {
    // connections of an ended pool may still break, so ours keeps its listener
    if (options.pool) pool.removeListener('error', ignore);
    else await pool.end();
  };

  const opened = (): Promise<PoolLike> => {
    opening ??= open().catch((error: unknown) => {
      opening = null; // the next call tries again
      throw error;
    });
    return opening;
  };

  const attempted = async <T>(
    operation: string,
    work: (pool: PoolLike) => Promise<T>,
  ): Promise<T> => {
    for (let tries = 1; ; tries++)
      try {
        return await work(await opened());
      } catch (error) {
        if (tries === TRIES || !isPassing(error)) throw storeFailed(operation, error);
      }
  };

  const guarded = async <T>(
    operation: string,
    work: (pool: PoolLike) => Promise<T>,
  ): Promise<T> => {
    if (closing) throw storeClosed('PostgreSQL');
    const attempt = attempted(operation, work);
    running.add(attempt);
    try {
      return await attempt;
    } finally {
      running.delete(attempt);
    }
  };

  return {
    durably: synchronousCommit === null ? '' : waiting(synchronousCommit),
    surely: synchronousCommit === null ? '' : waiting('on'),
    hastily: waiting('off'),
    run: <Row>(operation: string, text: string, values: readonly unknown[] = []): Promise<Row[]> =>
      guarded(operation, async (pool) => {
        const name = statementName(text);
        const { rows } = await pool.query({ name, text, values: [...values] });
        return rows as Row[];
      }),
    transaction: (operation, work) =>
      guarded(operation, (pool) => inTransaction(pool, synchronousCommit, work)),
    close: () =>
      (closing ??= (async () => {
        await Promise.allSettled(running); // a pool that ends forgets who waits for a connection
        const pool = await opening?.catch(() => null);
        if (pool) await leave(pool);
      })()),
  };
}

/** Read committed, whatever the server's default is: what follows a lock must see what was written before it. */
export async function inTransaction<T>(
  pool: PoolLike,
  synchronousCommit: 'on' | 'off' | null,
  work: (run: RunQuery) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  client.on('error', ignore); // a query that waits hears of it too
  try {
    const setting =
      synchronousCommit === null ? '' : `; set local synchronous_commit = ${synchronousCommit}`;
    await client.query({ text: `begin isolation level read committed${setting}` });
    const result = await work(async <Row>(text: string, values: readonly unknown[] = []) => {
      const { rows } = await client.query({ text, values: [...values] });
      return rows as Row[];
    });
    await client.query({ text: 'commit' });
    client.removeListener('error', ignore);
    client.release();
    return result;
  } catch (error) {
    client.release(true); // the server rolls back
    throw error;
  }
}

const waiting = (synchronousCommit: 'on' | 'off'): string =>
  `, set_config('synchronous_commit', '${synchronousCommit}', true)`;

const ignore = (): void => {};

async function makePool({ connectionString, poolSize }: PoolOptions): Promise<PoolLike> {
  const pg = await import('pg').catch((cause: unknown) => {
    throw new AgentError(
      'package_missing',
      'The PostgreSQL store needs the package pg, which is not installed. Run: npm install pg',
      { cause },
    );
  });
  return new pg.default.Pool({
    ...(connectionString !== undefined && { connectionString }),
    max: poolSize,
    application_name: 'onward',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    allowExitOnIdle: true,
  });
}

const names = new Map<string, string>();

/** The same for the same text, so that stores that share a connection share its statements. */
function statementName(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `onward_${fingerprint(text).toString(36)}_${text.length.toString(36)}`;
    names.set(text, name);
  }
  return name;
}

/** FNV-1a, in 32 bits. */
export function fingerprint(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++)
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}
