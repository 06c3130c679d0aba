import { AgentError } from '../../errors/agent-error.ts';
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

/** The part of Node we need, asked for by name so that bundlers leave it alone. */
interface Builtins {
  (name: 'node:sqlite'): SqliteModule | undefined;
  (name: 'node:fs'):
    | {
        mkdirSync(path: string, options: { recursive: true }): unknown;
        openSync(path: string, flags: string, mode: number): number;
        closeSync(file: number): void;
      }
    | undefined;
  (name: 'node:path'): { dirname(path: string): string } | undefined;
}

export interface SqliteFile {
  readonly path: string;
  readonly durability: 'process' | 'power';
  readonly busyTimeoutMs: number;
}

/** How long to wait before a file that another process is setting up is tried again. */
const BUSY_WAIT_MS = 15;
const SQLITE_BUSY = 5;

/** Opens the file, makes it and its folder where there is none, and brings it to the newest version. */
export async function openDatabase(file: SqliteFile): Promise<SqliteDatabase> {
  const { DatabaseSync } = await sqliteModule();
  const deadline = Date.now() + file.busyTimeoutMs;
  makeFile(file.path);
  for (;;) {
    const db = new DatabaseSync(file.path);
    try {
      prepareFile(db, file);
      return db;
    } catch (error) {
      db.close();
      // the change to WAL does not wait for its turn as other statements do
      if (!isBusy(error) || Date.now() >= deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, BUSY_WAIT_MS));
    }
  }
}

function prepareFile(db: SqliteDatabase, { path, durability, busyTimeoutMs }: SqliteFile): void {
  db.exec(`PRAGMA busy_timeout = ${Math.ceil(busyTimeoutMs)}`);
  // of a new file: a state and the rows of a step fit on fewer, larger pages, and pages are what a commit costs
  db.exec('PRAGMA page_size = 8192');
  db.exec('PRAGMA journal_mode = WAL');
  db.exec(`PRAGMA synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'}`);
  // on a Mac, a plain sync leaves the data in the drive's own memory
  if (durability === 'power') db.exec('PRAGMA fullfsync = 1');
  // with the defaults, 50 busy sessions read their pages again and again, and copy them to the file as often
  db.exec('PRAGMA cache_size = -32768');
  db.exec('PRAGMA wal_autocheckpoint = 4000');
  migrate(db, path);
}

/** Moves the log into the file, as far as others let it, and closes. */
export function closeDatabase(db: SqliteDatabase): void {
  try {
    db.exec('PRAGMA busy_timeout = 100');
    // the package keeps the log's file until its statements are collected: leave it empty
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // another process is at it, or opens the file next
  }
  db.close();
}

const isBusy = (error: unknown): boolean =>
  (((error as { errcode?: number } | null)?.errcode ?? 0) & 0xff) === SQLITE_BUSY;

async function sqliteModule(): Promise<SqliteModule> {
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
  const fs = builtin()?.('node:fs');
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

const builtin = (): Builtins | undefined =>
  (globalThis as { process?: { getBuiltinModule?: Builtins } }).process?.getBuiltinModule;
