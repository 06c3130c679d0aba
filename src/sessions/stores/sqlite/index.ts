import { AgentError, invalidOption, positive, whole } from '../../../errors/agent-error.ts';
import type { SessionStore, StoreCodec } from '../../session-store.ts';
import { groupCommit } from '../group-commit.ts';
import { backupFile, type SqliteBackup, type SqliteBackupOptions } from './sqlite-backup.ts';
import { isBusy, whileBusy } from './sqlite-busy.ts';
import { commits } from './sqlite-commit.ts';
import { closeDatabase, openDatabase, type SqliteFile } from './sqlite-database.ts';
import { sqliteFailure } from './sqlite-errors.ts';
import { forks } from './sqlite-fork.ts';
import { leases } from './sqlite-leases.ts';
import { queries } from './sqlite-queries.ts';
import { reads } from './sqlite-reads.ts';
import { remains } from './sqlite-remains.ts';
import type { SyncStore } from './sqlite-rows.ts';
import { sessions } from './sqlite-sessions.ts';
import { sliced, type SlicedConnection } from './sqlite-sliced.ts';
import { rewrite } from './sqlite-space.ts';
import { upkeep } from './sqlite-upkeep.ts';
import { work } from './sqlite-work.ts';
import { workers } from './sqlite-workers.ts';
import { isDamage, storeClosed } from '../store-errors.ts';

export type { SqliteBackup, SqliteBackupOptions } from './sqlite-backup.ts';

export interface SqliteStoreOptions {
  /** Path of the file. The file and its folder are created if missing. */
  readonly path: string;
  /**
   * What a finished write survives: a killed process (`process`, default), or also a power failure (`power`), at the
   * cost of a disk sync per write.
   */
  readonly durability?: 'process' | 'power';
  readonly codec?: StoreCodec;
  /** Largest text of one row, in bytes. Default 16 MiB. */
  readonly maxBytes?: number;
  /**
   * How long an operation is tried while another process locks the file, in milliseconds. Default 5,000. The event loop
   * stays free.
   */
  readonly busyTimeoutMs?: number;
}

type Tables = SyncStore;

interface Connection extends SlicedConnection {
  readonly tables: Tables;
}

export interface SqliteStore extends SessionStore {
  /**
   * Copies a consistent snapshot of all sessions into a new file with mode 0600, while processes work on them. A copy
   * of the file itself is not enough: the last writes may be in the `-wal` file beside it.
   */
  backup(to: string, options?: SqliteBackupOptions): Promise<SqliteBackup>;
  /**
   * Rewrites the file, so that it has no deleted data and no free space. Blocks the event loop and every writer until
   * it is done: for scripts, and for `onward vacuum`.
   */
  vacuum(): Promise<{ readonly bytesBefore: number; readonly bytes: number }>;
}

/** Stores sessions in one file, which processes of one machine may share. Opens it on first use. */
export function sqliteStore(options: SqliteStoreOptions): SqliteStore {
  const { codec } = options;
  const file = checked(options);
  let opening: Promise<Connection> | null = null;
  /** The open connection, so that a commit does not wait a turn for the promise. */
  let opened: Connection | null = null;
  let closing: Promise<void> | null = null;
  /** Set once the file is found to be damaged: reads may be wrong, and writes would make it worse. */
  let damage: AgentError | null = null;

  const failed = (operation: string, cause: unknown): AgentError => {
    const error = AgentError.is(cause) ? cause : sqliteFailure(file, operation, cause);
    if (opened && isDamage(error)) damage = error;
    return error;
  };

  const connection = (): Promise<Connection> => {
    if (closing) return Promise.reject(storeClosed('SQLite'));
    if (damage) return Promise.reject(damage);
    opening ??= connect(file, failed).then(
      (connection) => (opened = connection),
      (error: unknown) => {
        opening = null; // the next call tries again
        throw failed(`open ${file.path}`, error);
      },
    );
    return opening;
  };
  const close = async (): Promise<void> => {
    const open = await opening?.catch(() => null);
    if (!open) return;
    await open.group.add('close', () => {}).catch(() => {}); // runs after all waiting writes
    opening = null;
    opened = null;
    await closeDatabase(open.db);
  };

  const write =
    <K extends keyof SyncStore>(name: K) =>
    (...parameters: Parameters<SyncStore[K]>): Promise<ReturnType<SyncStore[K]>> => {
      const add = ({ group, tables }: Connection): Promise<ReturnType<SyncStore[K]>> =>
        group.add(name, () => call(tables, name, parameters));
      return opened && !closing && !damage ? add(opened) : connection().then(add);
    };
  const read =
    <K extends keyof SyncStore>(name: K) =>
    async (...parameters: Parameters<SyncStore[K]>): Promise<ReturnType<SyncStore[K]>> => {
      const { tables } = await connection();
      return reading(name, () => call(tables, name, parameters));
    };
  const reading = async <T>(operation: string, attempt: () => T): Promise<T> => {
    try {
      return await whileBusy(file.busyTimeoutMs, attempt);
    } catch (error) {
      throw failed(operation, error);
    }
  };

  return {
    name: 'sqlite',
    maxBytes: whole('maxBytes', options.maxBytes ?? 16 * 1024 * 1024),
    ...(codec && { codec }),
    create: write('create'),
    find: read('find'),
    list: read('list'),
    count: read('count'),
    runs: read('runs'),
    accept: write('accept'),
    nextCommand: read('nextCommand'),
    decide: write('decide'),
    request: write('request'),
    claim: write('claim'),
    release: write('release'),
    renew: write('renew'),
    signals: read('signals'),
    urgent: read('urgent'),
    recoverable: read('recoverable'),
    commit: write('commit'),
    messages: read('messages'),
    steps: read('steps'),
    compactions: read('compactions'),
    agents: read('agents'),
    calls: read('calls'),
    events: read('events'),
    blobs: read('blobs'),
    reportWorker: write('reportWorker'),
    workload: read('workload'),
    ...sliced(connection, reading),
    size: read('size'),
    async backup(to, { overwrite = false } = {}) {
      try {
        return await backupFile(file, to, { overwrite });
      } catch (error) {
        throw failed('backup', error);
      }
    },
    async vacuum() {
      const { db } = await connection();
      try {
        return await rewrite(db, file);
      } catch (error) {
        throw failed('vacuum', error);
      }
    },
    close: () => (closing ??= close()),
  };
}

async function connect(
  file: SqliteFile,
  failed: (operation: string, cause: unknown) => AgentError,
): Promise<Connection> {
  const db = await openDatabase(file);
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const group = groupCommit({
    begin: () => begin.run(),
    commit: () => commit.run(),
    rollback() {
      try {
        db.exec('ROLLBACK');
      } catch {
        // SQLite has already rolled back
      }
    },
    failed,
    isBusy,
    timeoutMs: file.busyTimeoutMs,
  });
  const tables = {
    ...sessions(db),
    ...queries(db),
    ...work(db),
    ...leases(db),
    ...commits(db),
    ...reads(db),
    ...workers(db),
  };
  const rest = remains(db);
  return { db, group, tables, remains: rest, upkeep: upkeep(db, rest), forks: forks(db) };
}

function call<K extends keyof SyncStore>(
  tables: Tables,
  name: K,
  parameters: Parameters<SyncStore[K]>,
): ReturnType<SyncStore[K]> {
  type Method = (...parameters: Parameters<SyncStore[K]>) => ReturnType<SyncStore[K]>;
  return (tables[name] as unknown as Method)(...parameters); // the compiler loses the link between name and method
}

function checked(options: SqliteStoreOptions): SqliteFile {
  const { path, durability = 'process', busyTimeoutMs = 5000 } = options;
  if (typeof path !== 'string' || path === '') throw invalidOption('path', path, 'a file name');
  if (durability !== 'process' && durability !== 'power')
    throw invalidOption('durability', durability, "'process' or 'power'");
  return { path, durability, busyTimeoutMs: positive('busyTimeoutMs', busyTimeoutMs) };
}
