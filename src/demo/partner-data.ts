import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AgentError } from '../errors/agent-error.ts';
import { messageOf } from '../errors/error-record.ts';
import {
  openDatabase,
  type SqliteDatabase,
  type SqliteValue,
} from '../sessions/stores/sqlite/sqlite-database.ts';
import { isoDay } from './data/dates.ts';
import { fillOnce } from './data/fill.ts';
import { sentence } from '../sentence.ts';

export type Row = Readonly<Record<string, SqliteValue>>;

/** The partner data set: programs, leads, companies and activities. */
export interface PartnerData {
  /** Current day such as `2026-01-31`, from the clock of the machine. */
  today(): string;
  one(sql: string, ...values: readonly SqliteValue[]): Row | undefined;
  all(sql: string, ...values: readonly SqliteValue[]): readonly Row[];
  run(sql: string, ...values: readonly SqliteValue[]): void;
  /** Runs a change in a transaction. The same `key` runs once and returns the same result again. */
  once<T>(key: string, work: () => T): T;
  /** Closes the data set; a second call has no effect. */
  close(): void;
}

/** Opens `partners.db` in the folder; creates and fills it if it does not exist. */
export async function openPartnerData(
  folder: string,
  now: () => number = Date.now,
): Promise<PartnerData> {
  const today = (): string => isoDay(now());
  mkdirSync(folder, { recursive: true });
  // the session store's opener selects the SQLite of this Node; its own tables stay in memory, and
  // this file is attached
  const db = await openDatabase({ path: ':memory:', durability: 'process', busyTimeoutMs: 5000 });
  try {
    db.prepare('ATTACH DATABASE ? AS partners').run(join(folder, 'partners.db'));
    fillOnce(db, today());
  } catch (cause) {
    db.close();
    throw new AgentError(
      'store_failed',
      `The demo data, partners.db in ${folder}, cannot be opened: ${sentence(messageOf(cause))} Delete that file, or choose another folder.`,
      { cause },
    );
  }
  let isOpen = true;
  return {
    today,
    one: (sql, ...values) => db.prepare(sql).get(...values) as Row | undefined,
    all: (sql, ...values) => db.prepare(sql).all(...values) as Row[],
    run: (sql, ...values) => void db.prepare(sql).run(...values),
    once: (key, work) => once(db, key, work),
    close() {
      if (isOpen) db.close();
      isOpen = false;
    },
  };
}

function once<T>(db: SqliteDatabase, key: string, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const before = db.prepare('SELECT result FROM effects WHERE key = ?').get(key) as
      | { readonly result: string }
      | undefined;
    const result = before ? (JSON.parse(before.result) as T) : work();
    if (!before)
      db.prepare('INSERT INTO effects VALUES (?, ?)').run(key, JSON.stringify(result ?? null));
    db.exec('COMMIT');
    return result;
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}
