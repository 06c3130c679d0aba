import { AgentError } from '../../../errors/agent-error.ts';
import { whileBusy } from './sqlite-busy.ts';
import { migrate } from './sqlite-migrate.ts';

export type SqliteValue = string | number | null;

/** The part of `node:sqlite` that is used here. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly changes: number | bigint };
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
}

export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

interface SqliteModule {
  readonly DatabaseSync: new (path: string) => SqliteDatabase;
}

/** The part of `node:fs` that is used here. */
export interface FileSystem {
  mkdirSync(path: string, options: { recursive: true }): unknown;
  openSync(path: string, flags: string, mode: number): number;
  closeSync(file: number): void;
  existsSync(path: string): boolean;
  realpathSync(path: string): string;
  statSync(path: string): { readonly size: number };
  renameSync(from: string, to: string): void;
  rmSync(path: string, options: { force: true }): void;
  readonly promises: {
    open(path: string, flags: string): Promise<{ sync(): Promise<void>; close(): Promise<void> }>;
  };
}

/** The part of Node that is used here, loaded by name so that bundlers ignore it. */
interface Builtins {
  (name: 'node:sqlite'): SqliteModule | undefined;
  (name: 'node:fs'): FileSystem | undefined;
  (name: 'node:path'): { dirname(path: string): string } | undefined;
}

export interface SqliteFile {
  readonly path: string;
  readonly durability: 'process' | 'power';
  /** How long to try while another process locks the file, in milliseconds. */
  readonly busyTimeoutMs: number;
}

/** Opens the file, creates it and its folder if missing, and migrates it to the newest version. */
export async function openDatabase(file: SqliteFile): Promise<SqliteDatabase> {
  const { DatabaseSync } = await sqliteModule();
  makeFile(file.path);
  return whileBusy(file.busyTimeoutMs, () => {
    const db = new DatabaseSync(file.path);
    try {
      prepareFile(db, file);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

function prepareFile(db: SqliteDatabase, { path, durability }: SqliteFile): void {
  // SQLite would wait inside the call and block the event loop: retry instead
  db.exec('PRAGMA busy_timeout = 0');
  // for a new file: a state and the rows of a step fit on fewer, larger pages, and the cost of a commit is in its pages
  db.exec('PRAGMA page_size = 8192');
  // for a new file: free pages can be returned to the file system, a few at a time
  db.exec('PRAGMA auto_vacuum = INCREMENTAL');
  // deleted data is overwritten
  db.exec('PRAGMA secure_delete = ON');
  db.exec('PRAGMA journal_mode = WAL');
  db.exec(`PRAGMA synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'}`);
  // on a Mac, a plain sync leaves the data in the drive's own memory
  if (durability === 'power') db.exec('PRAGMA fullfsync = 1');
  // with the defaults, 50 busy sessions keep reading their pages and copying them to the file
  db.exec('PRAGMA cache_size = -32768');
  db.exec('PRAGMA wal_autocheckpoint = 4000');
  migrate(db, path);
}

/** How long to wait for readers on close, in milliseconds. */
const LAST_CHECKPOINT_MS = 100;

/** Moves the log into the file if readers allow it, and closes. */
export async function closeDatabase(db: SqliteDatabase): Promise<void> {
  await whileBusy(LAST_CHECKPOINT_MS, () => truncateLog(db)).catch(() => {
    // another process does it, or the next one that opens the file
  });
  db.close();
}

/**
 * Moves the log into the file and empties it. `@photostructure/sqlite` would keep it until its statements are garbage
 * collected.
 */
export function truncateLog(db: SqliteDatabase): void {
  const { busy } = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
  if (busy !== 0) throw new LogInUse();
}

/** Error for a busy checkpoint: SQLite returns a row where other statements fail. */
class LogInUse extends Error {
  readonly errcode = 5;
}

export async function sqliteModule(): Promise<SqliteModule> {
  return (
    builtin()?.('node:sqlite') ??
    (await import('@photostructure/sqlite').catch((cause: unknown) => {
      throw new AgentError(
        'package_missing',
        'The SQLite store needs Node 22.13 or newer, or a package that could not be loaded. Run: npm install @photostructure/sqlite',
        { cause },
      );
    }))
  );
}

/**
 * Creates the folder, and an empty file that only its owner may read. SQLite gives the files beside it the same mode.
 */
function makeFile(path: string): void {
  const fs = fileSystem();
  const folder = builtin()?.('node:path')?.dirname(path);
  if (path === ':memory:' || !fs || folder === undefined) return;
  fs.mkdirSync(folder, { recursive: true });
  try {
    // only if it does not exist: closing a file that is in use would drop the locks of this process
    fs.closeSync(fs.openSync(path, 'wx', 0o600));
  } catch {
    // it exists, or SQLite reports why it cannot be created
  }
}

/** Returns the file system; undefined in an environment without one. */
export const fileSystem = (): FileSystem | undefined => builtin()?.('node:fs');

const builtin = (): Builtins | undefined =>
  (globalThis as { process?: { getBuiltinModule?: Builtins } }).process?.getBuiltinModule;
