import { invalidOption, whole } from '../../../errors/agent-error.ts';
import type { SessionStore, StoreCodec } from '../../session-store.ts';
import { writeCommit } from './postgres-commit.ts';
import { sessionLeases } from './postgres-leases.ts';
import { sessionBatches } from './postgres-batches.ts';
import type { PoolLike } from './postgres-client.ts';
import { openDatabase } from './postgres-pool.ts';
import { sessionReads } from './postgres-reads.ts';
import { migrate, quotedSchema } from './postgres-schema.ts';
import { sessionUpkeep } from './postgres-upkeep.ts';
import { sessionWork } from './postgres-work.ts';

export type { PoolClientLike, PoolLike, PoolQuery } from './postgres-client.ts';

export interface PostgresStoreOptions {
  /** Without it and without a `pool`, the `PG…` variables of the environment say where the server is. */
  readonly connectionString?: string;
  /** A `pg` Pool of yours, which `close` leaves open. */
  readonly pool?: PoolLike;
  /** Made on first use, where it is missing. Default `onward`. */
  readonly schema?: string;
  /**
   * `power` (default) waits until each write is on the server's disk: what was accepted survives a killed server and a
   * power cut. `process` does not wait: it survives any process that uses the store, and loses up to about a second of
   * accepted writes when the server is killed or its machine fails. Heartbeats never wait.
   */
  readonly durability?: 'process' | 'power';
  readonly codec?: StoreCodec;
  /** The largest text of one row. Default 16 MiB. */
  readonly maxBytes?: number;
  /** Most connections for work at a time; up to two more are for heartbeats. Default 10. */
  readonly poolSize?: number;
  /** How long to wait for a connection, a new or a free one. Default 10 seconds. */
  readonly connectTimeoutMs?: number;
  /**
   * How long a statement may take. One that gets no answer loses its connection, and what cannot have been written
   * twice is sent again on another one. Heartbeats have a third of the lease. Default 10 seconds.
   */
  readonly statementTimeoutMs?: number;
  /**
   * Prepares statements under a name, so that each connection plans a text once. Not for PgBouncer in transaction mode,
   * unless it tracks prepared statements. Default false.
   */
  readonly preparedStatements?: boolean;
}

/** Keeps sessions in PostgreSQL, for any number of processes. Connects on first use. */
export function postgresStore(options: PostgresStoreOptions = {}): SessionStore {
  const {
    connectionString,
    pool,
    codec,
    durability = 'power',
    preparedStatements = false,
  } = options;
  if (pool !== undefined && connectionString !== undefined)
    throw invalidOption('postgresStore()', options, 'a connectionString or a pool, not both');
  if (connectionString !== undefined && typeof connectionString !== 'string')
    throw invalidOption('postgresStore({ connectionString })', connectionString, 'a text');
  if (durability !== 'process' && durability !== 'power')
    throw invalidOption('postgresStore({ durability })', durability, "'process' or 'power'");
  const schema = quotedSchema(options.schema ?? 'onward');
  const db = openDatabase({
    connectionString,
    pool,
    poolSize: whole('poolSize', options.poolSize ?? 10),
    connectTimeoutMs: whole('connectTimeoutMs', options.connectTimeoutMs ?? 10_000),
    statementTimeoutMs: whole('statementTimeoutMs', options.statementTimeoutMs ?? 10_000),
    preparedStatements,
    durability,
    prepare: (opened, deadlines) => migrate(opened, schema, deadlines),
  });

  return {
    name: 'postgres',
    maxBytes: whole('maxBytes', options.maxBytes ?? 16 * 1024 * 1024),
    ...(codec && { codec }),
    ...sessionReads(db, schema),
    ...sessionWork(db, schema),
    ...sessionLeases(db, schema),
    ...sessionUpkeep(db, schema),
    ...sessionBatches(db, schema),
    commit: (commit) => writeCommit(db, schema, commit),
    close: () => db.close(),
  };
}
