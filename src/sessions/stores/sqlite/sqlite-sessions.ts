import type { NewSessionRow } from '../../session-rows.ts';
import type { SessionQuery } from '../../session-store.ts';
import type { SqliteDatabase, SqliteStatement, SqliteValue } from './sqlite-database.ts';
import {
  bytesOf,
  ofSession,
  plain,
  SESSION,
  sessionRow,
  STATUS,
  type SyncStore,
  texts,
} from './sqlite-rows.ts';

type Sessions = Pick<SyncStore, 'create' | 'find' | 'list' | 'size'>;

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

/** Implements create, find, list and size. */
export function sessions(db: SqliteDatabase): Sessions {
  const insert = insertion(db);
  const find = db.prepare(`SELECT ${SESSION} FROM sessions WHERE id = ?`);
  const findKey = db.prepare('SELECT key FROM sessions WHERE id = ?');
  const lists = new Map<string, SqliteStatement>();
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
    list(query) {
      const [sql, values] = listQuery(query);
      const statement = lists.get(sql) ?? db.prepare(sql);
      lists.set(sql, statement);
      return statement.all(...values).map(sessionRow);
    },
    size(sessionId) {
      const key = keyOf(sessionId);
      if (key === undefined) return { rows: 0, bytes: 0 };
      const [total] = plain<{ rows: number; bytes: number }>([size.get(key)]);
      return total ?? { rows: 0, bytes: 0 };
    },
  };
}

/**
 * Builds the query of a list. The inner query finds the page in the owner index if possible; the outer one reads only
 * those rows.
 */
function listQuery(query: SessionQuery): [string, SqliteValue[]] {
  const { owner, status, phase, agent, notAgents, limit, after } = query;
  const conditions: [string, SqliteValue[]][] = [];
  if (owner !== undefined) conditions.push(['owner = ?', [owner]]);
  if (status !== undefined) conditions.push([`${STATUS} = ?`, [status]]);
  // written as a literal, so that its partial index applies
  if (phase === 'parked') conditions.push([`phase = 'parked'`, []]);
  else if (phase !== undefined) conditions.push(['phase = ?', [phase]]);
  if (agent !== undefined) conditions.push(['agent = ?', [agent]]);
  if (notAgents !== undefined)
    conditions.push([`agent NOT IN (SELECT value FROM json_each(?))`, [JSON.stringify(notAgents)]]);
  if (after) conditions.push(['(updated_at, id) < (?, ?)', [after.updatedAt, after.id]]);
  const where = conditions.map(([condition]) => condition).join(' AND ') || 'TRUE';
  const order = 'ORDER BY updated_at DESC, id DESC';
  return [
    `SELECT ${SESSION} FROM sessions WHERE key IN (SELECT key FROM sessions WHERE ${where} ${order} LIMIT ?) ${order}`,
    [...conditions.flatMap(([, values]) => values), limit],
  ];
}
