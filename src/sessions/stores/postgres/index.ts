import { invalidOption, whole } from '../../../errors/agent-error.ts';
import type { SessionStore, StoreCodec } from '../../session-store.ts';
import { commitWriter } from './postgres-commit.ts';
import { sessionLeases } from './postgres-leases.ts';
import { sessionBatches } from './postgres-batches.ts';
import type { PoolLike } from './postgres-client.ts';
import { openDatabase } from './postgres-pool.ts';
import { sessionQueries } from './postgres-queries.ts';
import { sessionReads } from './postgres-reads.ts';
import { migrate } from './postgres-schema.ts';
import { sessionUpkeep } from './postgres-upkeep.ts';
import { sessionWork } from './postgres-work.ts';
import { sessionWorkers } from './postgres-workers.ts';

export type { PoolClientLike, PoolLike, PoolQuery } from './postgres-client.ts';

export interface PostgresStoreOptions {
  /** Address of the server. Default without a `pool`: the `PG…` environment variables. */
  readonly connectionString?: string;
  /** Your own `pg` Pool, which `close` leaves open. */
  readonly pool?: PoolLike;
  /** Schema of the tables, created on first use if missing. Default `onward`. */
  readonly schema?: string;
  /**
   * `power` (default) waits until each write is on the server's disk, so accepted writes survive a killed server and a
   * power failure. `process` does not wait: accepted writes survive any process that uses the store, but up to about a
   * second of them is lost if the server is killed or its machine fails. Heartbeats never wait.
   */
  readonly durability?: 'process' | 'power';
  readonly codec?: StoreCodec;
  /** Largest text of one row, in bytes. Default 16 MiB. */
  readonly maxBytes?: number;
  /** Most connections for work; up to two more are for heartbeats. Default 10. */
  readonly poolSize?: number;
  /** How long to wait for a new or free connection, in milliseconds. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /**
   * How long a statement may take, in milliseconds. Default 10,000. A connection that does not answer is dropped, and a
   * statement that is safe to repeat is sent again on another one. Heartbeats have a third of the lease.
   */
  readonly statementTimeoutMs?: number;
  /**
   * Whether to use named prepared statements, so that each connection plans a statement once. Do not use it with
   * PgBouncer in transaction mode, unless PgBouncer tracks prepared statements. Default false.
   */
  readonly preparedStatements?: boolean;
}

/** Stores sessions in PostgreSQL, for any number of processes. Connects on first use. */
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
    ...sessionQueries(db, schema),
    ...sessionWork(db, schema),
    ...sessionLeases(db, schema),
    ...sessionUpkeep(db, schema),
    ...sessionBatches(db, schema),
    ...sessionWorkers(db, schema),
    commit: commitWriter(db, schema),
    close: () => db.close(),
  };
}

/** Returns the schema quoted, because it may be an SQL keyword. */
function quotedSchema(schema: string): string {
  if (typeof schema === 'string' && /^[a-z_][a-z0-9_]{0,62}$/.test(schema)) return `"${schema}"`;
  throw invalidOption(
    'postgresStore({ schema })',
    schema,
    'a name of lowercase letters, digits and underscores that does not start with a digit',
  );
}
