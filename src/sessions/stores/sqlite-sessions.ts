import type { NewSessionRow } from '../session-rows.ts';
import type { SessionQuery } from '../session-store.ts';
import type { SqliteDatabase, SqliteStatement, SqliteValue } from './sqlite-database.ts';
import {
  history,
  NOW,
  ofSession,
  plain,
  SESSION,
  sessionRow,
  STATUS,
  type SyncStore,
} from './sqlite-rows.ts';

type Sessions = Pick<SyncStore, 'create' | 'find' | 'list' | 'fork' | 'delete' | 'size'>;

/** The tables that hold rows of a session, and the texts of each. */
const texts: readonly (readonly [string, readonly string[]])[] = [
  ['commands', ['body']],
  ['executions', ['content_hash']],
  ['messages', ['body']],
  ['steps', ['body', 'mark']],
  ['events', ['body']],
  ['agents', ['head']],
  ['calls', ['answer', 'result']],
  ['waits', []],
  ['blobs', ['body']],
];

/**
 * Drops every row of a session, by its key; how many. Texts are overwritten where they stand first: while rows go, SQLite
 * moves others of the session from page to page, and leaves copies of them in parts that it does not use.
 */
export function removal(db: SqliteDatabase): (key: number) => number {
  const blank = (table: string, columns: readonly string[], where: string): SqliteStatement => {
    const blanks = columns.map((text) => `${text} = CAST(zeroblob(octet_length(${text})) AS TEXT)`);
    return db.prepare(`UPDATE ${table} SET ${blanks.join(', ')} WHERE ${where}`);
  };
  const blanks = [
    ...texts.flatMap(([table, columns]) =>
      columns.length === 0 ? [] : [blank(table, columns, ofSession(table))],
    ),
    blank('sessions', ['head'], 'key = ?'),
  ];
  const removals = [
    ...texts.map(([table]) => db.prepare(`DELETE FROM ${table} WHERE ${ofSession(table)}`)),
    db.prepare('DELETE FROM sessions WHERE key = ?'),
  ];
  const removeEras = db.prepare('DELETE FROM eras WHERE session = ?');
  return (key) => {
    for (const overwrite of blanks) overwrite.run(key);
    const rows = removals.reduce((sum, remove) => sum + Number(remove.run(key).changes), 0);
    removeEras.run(key); // others are found by them
    return rows;
  };
}

/** The life of whole sessions. */
export function sessions(db: SqliteDatabase): Sessions {
  const insert = db.prepare(
    `INSERT INTO sessions (id, owner, agent, status, phase, execution_id, head, revision, token, leased_until,
     message_count, step_count, seq, last_command, requires, created_at, updated_at)
     VALUES (?, ?, ?, ?, 'idle', ?, ?, 0, 0, 0, ?, ?, 0, 0, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const find = db.prepare(`SELECT ${SESSION} FROM sessions WHERE id = ?`);
  const findKey = db.prepare('SELECT key FROM sessions WHERE id = ?');
  const lists = new Map<string, SqliteStatement>();
  const enterEra = db.prepare(
    `UPDATE sessions SET era = ${NOW} WHERE id = ? RETURNING key AS copy, era`,
  );
  const addEra = db.prepare('INSERT INTO eras (session, era) VALUES (?, ?)');
  const copyMessages = db.prepare(
    `INSERT INTO messages (era, session, agent_id, position, role, body)
     SELECT ?, ?, agent_id, position, role, body FROM ${history('messages', '?')}
     AND agent_id = '' AND position < ? ORDER BY era, position`,
  );
  const copySteps = db.prepare(
    `INSERT INTO steps (era, session, agent_id, position, execution_id, body, mark)
     SELECT ?, ?, agent_id, position, execution_id, body, mark FROM ${history('steps', '?')}
     AND agent_id = '' AND position < ? ORDER BY era, position`,
  );
  const copyBlobs = db.prepare(
    `INSERT INTO blobs (session, scope, hash, body) SELECT ?, scope, hash, body FROM blobs
     WHERE session = ? AND (scope = '' OR scope IN (SELECT execution_id FROM ${history('steps', '?')}))`,
  );
  const copyExecutions = db.prepare(
    `INSERT INTO executions (session, execution_id, content_hash)
     SELECT ?, execution_id, content_hash FROM executions
     WHERE session = ? AND execution_id IN (SELECT execution_id FROM ${history('steps', '?')})`,
  );
  const copyWaits = db.prepare(
    // what was forked goes on under another id
    `INSERT OR IGNORE INTO waits (session, call_id, execution_id)
     SELECT ?1, call_id, CASE WHEN execution_id = (SELECT execution_id FROM ${history('steps', '?1')}
       ORDER BY era DESC, position DESC LIMIT 1) THEN ifnull(?3, execution_id) ELSE execution_id END
     FROM waits WHERE session = ?2 AND execution_id IN (SELECT execution_id FROM ${history('steps', '?1')})`,
  );
  const remove = removal(db);
  const measure = (table: string, where: string, columns: readonly string[]): string => {
    const bytes = columns.map((column) => `ifnull(octet_length(${column}), 0)`).join(' + ') || '0';
    return `SELECT count(*) AS n, sum(${bytes}) AS b FROM ${table} WHERE ${where}`;
  };
  const size = db.prepare(
    `SELECT sum(n) AS rows, sum(b) AS bytes FROM (${[
      measure('sessions', 'key = ?1', ['head']),
      ...texts.map(([table, columns]) => measure(table, ofSession(table), columns)),
    ].join(' UNION ALL ')})`,
  );
  const keyOf = (sessionId: string): number | undefined =>
    (findKey.get(sessionId) as { key: number } | undefined)?.key;
  const create = (row: NewSessionRow): boolean =>
    Number(
      insert.run(
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

  return {
    create,
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
    fork(fromId, row) {
      const source = keyOf(fromId);
      if (source === undefined || !create(row)) return false;
      const { copy, era } = enterEra.get(row.id) as { copy: number; era: number };
      addEra.run(copy, era);
      copyMessages.run(era, copy, source, row.messageCount);
      copySteps.run(era, copy, source, row.stepCount);
      copyBlobs.run(copy, source, copy);
      copyExecutions.run(copy, source, copy);
      copyWaits.run(copy, source, row.executionId);
      return true;
    },
    delete(sessionId) {
      const key = keyOf(sessionId);
      if (key === undefined) return false;
      remove(key);
      return true;
    },
    size(sessionId) {
      const key = keyOf(sessionId);
      if (key === undefined) return { rows: 0, bytes: 0 };
      const [total] = plain<{ rows: number; bytes: number }>([size.get(key)]);
      return total ?? { rows: 0, bytes: 0 };
    },
  };
}

/** The inner query finds the page in the index of owners where it can; the outer one reads those rows alone. */
function listQuery(query: SessionQuery): [string, SqliteValue[]] {
  const { owner, status, phase, agent, notAgents, limit, after } = query;
  const conditions: [string, SqliteValue[]][] = [];
  if (owner !== undefined) conditions.push(['owner = ?', [owner]]);
  if (status !== undefined) conditions.push([`${STATUS} = ?`, [status]]);
  // written out, so that its index fits
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
