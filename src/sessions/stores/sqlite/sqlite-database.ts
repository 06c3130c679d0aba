import { AgentError } from '../../../errors/agent-error.ts';
import { whileBusy } from './sqlite-busy.ts';
import { migrate } from './sqlite-migrate.ts';

export type SqliteValue = string | number | null;

/** What we use of `node:sqlite`. */
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

/** What we use of `node:fs`. */
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

/** The part of Node we need, asked for by name so that bundlers leave it alone. */
interface Builtins {
  (name: 'node:sqlite'): SqliteModule | undefined;
  (name: 'node:fs'): FileSystem | undefined;
  (name: 'node:path'): { dirname(path: string): string } | undefined;
}

export interface SqliteFile {
  readonly path: string;
  readonly durability: 'process' | 'power';
  /** How long to try while another process holds the file. */
  readonly busyTimeoutMs: number;
}

/** Opens the file, makes it and its folder where there is none, and brings it to the newest version. */
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
  // SQLite would wait inside the call and hold the event loop: we try again instead
  db.exec('PRAGMA busy_timeout = 0');
  // of a new file: a state and the rows of a step fit on fewer, larger pages, and pages are what a commit costs
  db.exec('PRAGMA page_size = 8192');
  // of a new file: free pages can be given back, a few at a time
  db.exec('PRAGMA auto_vacuum = INCREMENTAL');
  // what is deleted is overwritten, wherever it stood
  db.exec('PRAGMA secure_delete = ON');
  db.exec('PRAGMA journal_mode = WAL');
  db.exec(`PRAGMA synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'}`);
  // on a Mac, a plain sync leaves the data in the drive's own memory
  if (durability === 'power') db.exec('PRAGMA fullfsync = 1');
  // with the defaults, 50 busy sessions read their pages again and again, and copy them to the file as often
  db.exec('PRAGMA cache_size = -32768');
  db.exec('PRAGMA wal_autocheckpoint = 4000');
  migrate(db, path);
}

/** How long to wait at the end for others that read. */
const LAST_CHECKPOINT_MS = 100;

/** Moves the log into the file, as far as others let it, and closes. */
export async function closeDatabase(db: SqliteDatabase): Promise<void> {
  await whileBusy(LAST_CHECKPOINT_MS, () => truncateLog(db)).catch(() => {
    // another process is at it, or opens the file next
  });
  db.close();
}

/** Moves the log into the file and leaves it empty: the package keeps it until its statements are collected. */
export function truncateLog(db: SqliteDatabase): void {
  const { busy } = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
  if (busy !== 0) throw new LogInUse();
}

/** SQLite answers with a row where other statements fail. */
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

/** Makes the folder, and an empty file that only its owner may read: SQLite gives the files beside it the same mode. */
function makeFile(path: string): void {
  const fs = fileSystem();
  const folder = builtin()?.('node:path')?.dirname(path);
  if (path === ':memory:' || !fs || folder === undefined) return;
  fs.mkdirSync(folder, { recursive: true });
  try {
    // only where there is none: to close a file that is in use would drop the locks of this process
    fs.closeSync(fs.openSync(path, 'wx', 0o600));
  } catch {
    // it is there, or SQLite says why it cannot be made
  }
}

/** Undefined where there are no files. */
export const fileSystem = (): FileSystem | undefined => builtin()?.('node:fs');

const builtin = (): Builtins | undefined =>
  (globalThis as { process?: { getBuiltinModule?: Builtins } }).process?.getBuiltinModule;
