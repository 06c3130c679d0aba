import { inTime, type Aborts } from '../../in-time.ts';
import { noAnswer, noConnection, isOfConnection } from './postgres-errors.ts';

/** The part of a `pg` Pool that the store uses. */
export interface PoolLike {
  connect(): Promise<PoolClientLike>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'connect', listener: (client: PoolClientLike) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'connect', listener: (client: PoolClientLike) => void): unknown;
  end(): Promise<void>;
  /** Read for `max`, the most connections at a time. */
  readonly options?: { readonly max?: number };
}

export interface PoolClientLike {
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  query(query: PoolQuery): Promise<{ readonly rows: readonly unknown[] }>;
  release(destroy?: boolean): void;
}

export interface PoolQuery {
  name?: string;
  text: string;
  values?: unknown[];
}

/** Runs one statement and returns its rows. */
export type RunQuery = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** Time limits, in milliseconds. */
export interface Deadlines {
  /** Limit for a free or new connection. */
  readonly connectMs: number;
  /** Limit for each statement. */
  readonly statementMs: number;
  /** Functions that end pending work when the store is closed. */
  readonly aborts: Aborts;
}

/** Sends one statement on a connection. */
export type Send = (query: PoolQuery) => Promise<readonly unknown[]>;

/**
 * Runs statements on one connection of the pool. A connection that does not answer in time is destroyed, never reused:
 * its statement may still run, and a late answer must not be taken for that of another query.
 */
export async function onClient<T>(
  pool: PoolLike,
  { connectMs, statementMs, aborts }: Deadlines,
  work: (send: Send) => Promise<T>,
): Promise<T> {
  const client = await connected(pool, connectMs, aborts);
  client.on('error', ignore); // a pending query gets the error too
  const late = (): Error => noAnswer(statementMs);
  const send: Send = async (query) =>
    (await inTime(client.query(query), statementMs, late, aborts)).rows;
  try {
    const result = await work(send);
    client.removeListener('error', ignore);
    client.release();
    return result;
  } catch (error) {
    const isBroken = isOfConnection(error);
    if (!isBroken) client.removeListener('error', ignore);
    client.release(isBroken);
    throw error;
  }
}

/** Returns a connection. One that comes too late is released to the pool. */
async function connected(pool: PoolLike, ms: number, aborts: Aborts): Promise<PoolClientLike> {
  const connecting = pool.connect();
  try {
    return await inTime(connecting, ms, () => noConnection(ms), aborts);
  } catch (error) {
    connecting.then((client) => client.release()).catch(ignore);
    throw error;
  }
}

/**
 * Runs a read committed transaction, whatever the server's default is: statements after a lock must see all earlier
 * writes. If the client goes silent, the server ends the transaction and releases its locks.
 */
export async function inTransaction<T>(
  pool: PoolLike,
  deadlines: Deadlines,
  settings: readonly string[],
  work: (run: RunQuery) => Promise<T>,
): Promise<T> {
  const { statementMs } = deadlines;
  const begin = [
    'begin isolation level read committed',
    `set local idle_in_transaction_session_timeout = ${Math.ceil(statementMs)}`,
    ...settings,
  ];
  return onClient(pool, deadlines, async (send) => {
    await send({ text: begin.join('; ') });
    try {
      const result = await work(
        async <Row>(text: string, values: readonly unknown[] = []) =>
          (await send({ text, values: [...values] })) as Row[],
      );
      await send({ text: 'commit' });
      return result;
    } catch (error) {
      if (!isOfConnection(error)) await send({ text: 'rollback' });
      throw error;
    }
  });
}

export const ignore = (): void => {};

/** Keeps an error listener on a new connection, which may break before a caller has it. */
export const guardClient = (client: PoolClientLike): void => void client.on('error', ignore);

const names = new Map<string, string>();

/**
 * Returns the name of a prepared statement. The same text has the same name, so that stores that share a connection
 * share its statements.
 */
export function statementName(text: string): string {
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
