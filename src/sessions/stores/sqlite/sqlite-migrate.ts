import { AgentError } from '../../../errors/agent-error.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { migrations, repairs } from './sqlite-schema.ts';

/** Application id of the files of this store: the letters `onwd`. */
const APPLICATION_ID = 0x6f6e7764;

/**
 * Migrates the file to the newest version. Processes may do this at the same time: the lock admits one, and the others
 * check the version again.
 */
export function migrate(db: SqliteDatabase, path: string): void {
  if (versionOf(db, path) >= migrations.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    const version = versionOf(db, path);
    for (const [i, migration] of migrations.entries()) {
      if (i < version) continue;
      db.exec(repairs.get(i) ?? '');
      db.exec(migration);
    }
    if (version < migrations.length) {
      db.exec(`PRAGMA user_version = ${migrations.length}`);
      db.exec(`UPDATE compatibility SET version = ${migrations.length}`);
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    }
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

const isOurs = (db: SqliteDatabase): boolean =>
  numberOf(db, 'PRAGMA application_id') === APPLICATION_ID;

/** Throws if the file is not a session store of any release. */
export function checkOurs(db: SqliteDatabase, path: string): void {
  if (!isOurs(db)) throw notOurs(path);
}

const notOurs = (path: string): AgentError =>
  new AgentError(
    'store_failed',
    `The database ${path} does not hold sessions of Onward. Give the store a file of its own.`,
    { details: { path } },
  );

/** Returns the version of the file. Throws if this release cannot work with it. */
function versionOf(db: SqliteDatabase, path: string): number {
  const version = numberOf(db, 'PRAGMA user_version');
  const tables = numberOf(db, 'SELECT count(*) FROM sqlite_schema');
  if (!isOurs(db) && (version > 0 || tables > 0)) throw notOurs(path);
  const known = migrations.length;
  if (version > known && !isReadable(db, version))
    throw new AgentError(
      'store_failed',
      `The database ${path} has version ${version}, written by a newer release; this one knows versions up to ${known}. Upgrade onward.`,
      { details: { path, version, known } },
    );
  return version;
}

/** Whether the newer release that wrote the file allows this one to work with it. */
const isReadable = (db: SqliteDatabase, version: number): boolean =>
  numberOf(
    db,
    `SELECT count(*) FROM compatibility WHERE version = ${version} AND oldest <= ${migrations.length}`,
  ) > 0;

const numberOf = (db: SqliteDatabase, sql: string): number =>
  Number(Object.values(db.prepare(sql).get() ?? {})[0]);
