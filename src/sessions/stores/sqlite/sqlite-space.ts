import type { GroupCommit } from '../group-commit.ts';
import { whileBusy } from './sqlite-busy.ts';
import {
  fileSystem,
  truncateLog,
  type SqliteDatabase,
  type SqliteFile,
} from './sqlite-database.ts';

/** Pages that one transaction moves at most. */
const PAGES = 64;
/** How long to try to empty the log while others read it. */
const EMPTYING_MS = 500;

/**
 * Gives the space of what was deleted back to the file system, and empties the log, which still holds what was deleted.
 * What it cannot do in time, because there is much of it or because others read the log, is left to the next time.
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
    // the rows are gone, and that was asked for
  }
}

const PAUSE_MS = 5;

/**
 * Other processes, which ask again from time to time, get their turn. The log is moved into the file as it grows, so that
 * no single step has to move much.
 */
export async function betweenSlices(db: SqliteDatabase): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, PAUSE_MS);
  });
  db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
}

/** Writes the file anew, and with it the property that free pages can be given back. */
export async function rewrite(
  db: SqliteDatabase,
  { path, busyTimeoutMs }: SqliteFile,
): Promise<{ readonly bytesBefore: number; readonly bytes: number }> {
  const bytesBefore = sizeOf(path);
  db.exec('PRAGMA auto_vacuum = INCREMENTAL');
  await whileBusy(busyTimeoutMs, () => db.exec('VACUUM'));
  // until then the old pages are in the file, and the new ones in the log
  await whileBusy(busyTimeoutMs, () => truncateLog(db));
  return { bytesBefore, bytes: sizeOf(path) };
}

const sizeOf = (path: string): number => fileSystem()?.statSync(path).size ?? 0;

/** Free pages of a file that was made without `auto_vacuum` stay in it. */
const canShrink = (db: SqliteDatabase): boolean =>
  numberOf(db, 'auto_vacuum') === INCREMENTAL && numberOf(db, 'freelist_count') > 0;

const INCREMENTAL = 2;

const numberOf = (db: SqliteDatabase, pragma: string): number =>
  Number(Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);
