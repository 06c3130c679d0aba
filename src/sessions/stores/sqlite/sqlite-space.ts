import type { GroupCommit } from '../group-commit.ts';
import { whileBusy } from './sqlite-busy.ts';
import {
  fileSystem,
  truncateLog,
  type SqliteDatabase,
  type SqliteFile,
} from './sqlite-database.ts';

/** Most pages that one transaction moves. */
const PAGES = 64;
/** How long to try to empty the log while others read it, in milliseconds. */
const EMPTYING_MS = 500;

/**
 * Returns the space of deleted data to the file system, and empties the log, which still has that data. The rest is
 * left to the next time if there is too much or if others read the log.
 */
export async function giveSpaceBack(
  db: SqliteDatabase,
  group: GroupCommit,
  longestMs: number,
): Promise<void> {
  const endsAt = performance.now() + longestMs;
  try {
    while (canShrink(db) && performance.now() < endsAt) {
      await group.add('vacuum', () => db.exec(`PRAGMA incremental_vacuum(${PAGES})`));
      await betweenSlices(db);
    }
    await whileBusy(EMPTYING_MS, () => truncateLog(db));
  } catch {
    // the rows are deleted, which is what the caller asked for
  }
}

const PAUSE_MS = 5;

/**
 * Pauses so that other processes, which poll for the lock, get a turn. Moves the log into the file as it grows, so that
 * no single step has to move much.
 */
export async function betweenSlices(db: SqliteDatabase): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, PAUSE_MS);
  });
  db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
}

/** Rewrites the file, and enables returning free pages to the file system. */
export async function rewrite(
  db: SqliteDatabase,
  { path, busyTimeoutMs }: SqliteFile,
): Promise<{ readonly bytesBefore: number; readonly bytes: number }> {
  const bytesBefore = sizeOf(path);
  db.exec('PRAGMA auto_vacuum = INCREMENTAL');
  await whileBusy(busyTimeoutMs, () => db.exec('VACUUM'));
  // before this, the old pages are in the file and the new ones in the log
  await whileBusy(busyTimeoutMs, () => truncateLog(db));
  return { bytesBefore, bytes: sizeOf(path) };
}

const sizeOf = (path: string): number => fileSystem()?.statSync(path).size ?? 0;

/** Whether the file has free pages that can be returned. In a file that was created without `auto_vacuum` they stay. */
const canShrink = (db: SqliteDatabase): boolean =>
  numberOf(db, 'auto_vacuum') === INCREMENTAL && numberOf(db, 'freelist_count') > 0;

const INCREMENTAL = 2;

const numberOf = (db: SqliteDatabase, pragma: string): number =>
  Number(Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);
