import type { NewSessionRow } from '../../session-rows.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import {
  bytesOf,
  ofSession,
  plain,
  SESSION,
  sessionRow,
  type SyncStore,
  texts,
} from './sqlite-rows.ts';

type Sessions = Pick<SyncStore, 'create' | 'find' | 'size'>;

/**
 * Prepares a function that adds an idle session, under a new key unless one is given. It returns false if the id is
 * taken.
 */
export function insertion(
  db: SqliteDatabase,
): (row: NewSessionRow, key?: number, era?: number) => boolean {
  const insert = db.prepare(
    `INSERT INTO sessions (key, era, id, owner, agent, status, phase, execution_id, head, revision, token, leased_until,
     message_count, step_count, seq, last_command, requires, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, 'idle', ?, ?, 0, 0, 0, ?, ?, 0, 0, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  return (row, key, era = -1) =>
    Number(
      insert.run(
        key ?? null,
        era,
        row.id,
        row.owner,
        row.agent,
        row.status,
        row.executionId,
        row.head,
        row.messageCount,
        row.stepCount,
        row.requires ?? 1,
        row.createdAt,
        row.createdAt,
      ).changes,
    ) > 0;
}

/** Implements create, find and size. */
export function sessions(db: SqliteDatabase): Sessions {
  const insert = insertion(db);
  const find = db.prepare(`SELECT ${SESSION} FROM sessions WHERE id = ?`);
  const findKey = db.prepare('SELECT key FROM sessions WHERE id = ?');
  const measure = (table: string, where: string, columns: readonly string[]): string =>
    `SELECT count(*) AS n, sum(${bytesOf(columns)}) AS b FROM ${table} WHERE ${where}`;
  const size = db.prepare(
    `SELECT sum(n) AS rows, sum(b) AS bytes FROM (${[
      measure('sessions', 'key = ?1', ['head']),
      ...texts.map(([table, columns]) => measure(table, ofSession(table), columns)),
    ].join(' UNION ALL ')})`,
  );
  const keyOf = (sessionId: string): number | undefined =>
    (findKey.get(sessionId) as { key: number } | undefined)?.key;
  return {
    create: (row) => insert(row),
    find(sessionId) {
      const row = find.get(sessionId);
      return row ? sessionRow(row) : null;
    },
    size(sessionId) {
      const key = keyOf(sessionId);
      if (key === undefined) return { rows: 0, bytes: 0 };
      const [total] = plain<{ rows: number; bytes: number }>([size.get(key)]);
      return total ?? { rows: 0, bytes: 0 };
    },
  };
}
