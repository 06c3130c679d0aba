import { AgentError, invalidOption } from '../../../errors/agent-error.ts';
import { uuid } from '../../../ids.ts';
import { whileBusy } from './sqlite-busy.ts';
import { copyTables } from './sqlite-copy.ts';
import {
  type FileSystem,
  fileSystem,
  type SqliteDatabase,
  type SqliteFile,
  sqliteModule,
} from './sqlite-database.ts';
import { checkOurs } from './sqlite-migrate.ts';

export interface SqliteBackupOptions {
  /** Whether an existing file is replaced. Default false. */
  readonly overwrite?: boolean;
}

export interface SqliteBackup {
  /** The new file. */
  readonly path: string;
  readonly bytes: number;
  readonly sessions: number;
}

/**
 * Copies a consistent snapshot of all sessions into a new file that only its owner may read. Other processes can read
 * and write during the copy, and the event loop stays free. The new file appears only when it is complete.
 */
export async function backupFile(
  { path, busyTimeoutMs }: SqliteFile,
  to: string,
  { overwrite = false }: SqliteBackupOptions,
): Promise<SqliteBackup> {
  const fs = fileSystem();
  if (!fs || path === ':memory:')
    throw invalidOption('backup', path, 'a store whose path is a file');
  if (typeof to !== 'string' || to === '') throw invalidOption('backup to', to, 'a file name');
  if (!fs.existsSync(path))
    throw new AgentError('store_failed', `There is no file ${path} to back up.`, {
      details: { operation: 'backup', path, reason: 'missing' },
    });
  checkTarget(fs, path, to, overwrite);
  const { DatabaseSync } = await sqliteModule();
  const part = `${to}.${uuid().slice(0, 8)}.part`;
  // before SQLite creates it with a mode that others can read
  fs.closeSync(fs.openSync(part, 'wx', 0o600));
  try {
    const source = new DatabaseSync(path);
    try {
      source.exec('PRAGMA busy_timeout = 0');
      await whileBusy(busyTimeoutMs, () => checkOurs(source, path));
      await copyTables(source, busyTimeoutMs, part, () => new DatabaseSync(part));
    } finally {
      source.close();
    }
    const sessions = countIn(new DatabaseSync(part));
    await synced(fs, part);
    checkTarget(fs, path, to, overwrite);
    if (overwrite) for (const end of ['-wal', '-shm']) fs.rmSync(to + end, { force: true });
    fs.renameSync(part, to);
    return { path: to, bytes: fs.statSync(to).size, sessions };
  } catch (error) {
    for (const end of ['', '-journal']) fs.rmSync(part + end, { force: true });
    throw error;
  }
}

/** Syncs the file to disk without blocking the event loop, as SQLite would. */
async function synced(fs: FileSystem, path: string): Promise<void> {
  const file = await fs.promises.open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Checks that the target can be written. SQLite would treat an existing `-wal` file beside it as its log. */
function checkTarget(fs: FileSystem, path: string, to: string, overwrite: boolean): void {
  const refused = (what: string, reason: 'exists' | 'same' | 'in_use'): AgentError =>
    new AgentError('conflict', what, { details: { operation: 'backup', path, to, reason } });
  if (!fs.existsSync(to) && !fs.existsSync(`${to}-wal`)) return;
  if (fs.existsSync(to) && fs.realpathSync(to) === fs.realpathSync(path))
    throw refused(`${to} is the database itself. Name another file for its backup.`, 'same');
  if (!overwrite)
    throw refused(`${to} already exists. Name another file, or overwrite it.`, 'exists');
  if (fs.existsSync(`${to}-wal`) && fs.statSync(`${to}-wal`).size > 0)
    throw refused(
      `${to} is in use, or was when its process died: ${to}-wal is not empty. Name another file.`,
      'in_use',
    );
}

function countIn(db: SqliteDatabase): number {
  try {
    const { n } = db.prepare('SELECT count(*) AS n FROM sessions').get() as { n: number };
    return n;
  } finally {
    db.close();
  }
}
