import { invalidOption, whole } from '../../errors/agent-error.ts';
import type { SessionStore, StoreCodec } from '../session-store.ts';
import { writeCommit } from './postgres-commit.ts';
import { sessionLeases } from './postgres-leases.ts';
import { openDatabase, type PoolLike } from './postgres-pool.ts';
import { sessionReads } from './postgres-reads.ts';
import { migrate, quotedSchema } from './postgres-schema.ts';
import { sessionUpkeep } from './postgres-upkeep.ts';
import { sessionWork } from './postgres-work.ts';

export type { PoolClientLike, PoolLike, PoolQuery } from './postgres-pool.ts';

export interface PostgresStoreOptions {
  /** Without it and without a `pool`, the `PG…` variables of the environment say where the server is. */
  readonly connectionString?: string;
  /** A `pg` Pool of yours, which `close` leaves open. */
  readonly pool?: PoolLike;
  /** Made on first use, where it is missing. Default `onward`. */
  readonly schema?: string;
  /**
   * `process` (default) outlives any process that uses the store, and a crash of the server's machine but for the last
   * moments before; `power` waits until each write is on the server's disk. With a `pool` the default is what its server
   * is set to.
   */
  readonly durability?: 'process' | 'power';
  readonly codec?: StoreCodec;
  /** The largest text of one row. Default 16 MiB. */
  readonly maxBytes?: number;
  /** Most connections at a time. Default 10. */
  readonly poolSize?: number;
}

/** Values of `synchronous_commit`. */
const waits = { process: 'off', power: 'on', server: null } as const;

/** Keeps sessions in PostgreSQL, for any number of processes. Connects on first use. */
export function postgresStore(options: PostgresStoreOptions = {}): SessionStore {
  const { connectionString, pool, codec, durability } = options;
  if (pool !== undefined && connectionString !== undefined)
    throw invalidOption('postgresStore()', options, 'a connectionString or a pool, not both');
  if (connectionString !== undefined && typeof connectionString !== 'string')
    throw invalidOption('postgresStore({ connectionString })', connectionString, 'a text');
  if (durability !== undefined && durability !== 'process' && durability !== 'power')
    throw invalidOption('postgresStore({ durability })', durability, "'process' or 'power'");
  const schema = quotedSchema(options.schema ?? 'onward');
  const db = openDatabase({
    connectionString,
    pool,
    poolSize: whole('poolSize', options.poolSize ?? 10),
    synchronousCommit: waits[durability ?? (pool ? 'server' : 'process')],
    prepare: (opened) => migrate(opened, schema),
  });

  return {
    name: 'postgres',
    maxBytes: whole('maxBytes', options.maxBytes ?? 16 * 1024 * 1024),
    ...(codec && { codec }),
    ...sessionReads(db, schema),
    ...sessionWork(db, schema),
    ...sessionLeases(db, schema),
    ...sessionUpkeep(db, schema),
    commit: (commit) => writeCommit(db, schema, commit),
    close: () => db.close(),
  };
}
