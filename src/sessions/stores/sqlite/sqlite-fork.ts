import { AgentError } from '../../../errors/agent-error.ts';
import { uuid } from '../../../ids.ts';
import type { ForkedSessionRow } from '../../session-rows.ts';
import { bootId, machineMs } from '../machine-time.ts';
import type { SqliteDatabase, SqliteStatement } from './sqlite-database.ts';
import { COPY_LEASE_MS } from './sqlite-remains.ts';
import { bytesOf, history, NOW } from './sqlite-rows.ts';
import { insertion } from './sqlite-sessions.ts';
import { SLICE_ROWS, type SizedRow, Slice } from './sqlite-slice.ts';

/** An unfinished fork. Its rows are under a key that no session has. */
export interface Copying {
  readonly fork: string;
  readonly source: number;
  readonly key: number;
  readonly era: number;
  readonly table: number;
  readonly place: number;
}

export interface SqliteFork {
  /**
   * Copies as many rows as fit into a slice. The session exists after the last slice. Returns false like `fork` of the
   * store; rows that were copied by then remain.
   */
  copy(fromId: string, row: ForkedSessionRow, copying: Copying | null): boolean | Copying;
}

interface PlacedRow extends SizedRow {
  readonly place: number;
}

/** Copies a session into a new one in short transactions; see {@link Copying}. */
export function forks(db: SqliteDatabase): SqliteFork {
  const insert = insertion(db);
  const findKey = db.prepare('SELECT key FROM sessions WHERE id = ?');
  const begin = db.prepare(
    `INSERT INTO remains (key, fork, lease_boot, lease_end) SELECT 1 + max(ifnull((SELECT max(key) FROM sessions), 0),
     ifnull((SELECT max(key) FROM remains), 0)), ?, '${bootId}', ? RETURNING key, ${NOW} AS era`,
  );
  const addEra = db.prepare('INSERT INTO eras (session, era) VALUES (?, ?)');
  const renew = db.prepare('UPDATE remains SET lease_end = ? WHERE key = ? AND fork = ?');
  const abandon = db.prepare('UPDATE remains SET fork = NULL WHERE key = ? AND fork = ?');
  const end = db.prepare('DELETE FROM remains WHERE key = ?');
  const ofRoot = (table: string, count: string): string =>
    `${history(table, '?1')} AND agent_id = '' AND position < ${count}`;
  const place = (table: string, columns: readonly string[]): string =>
    `SELECT ${table}.rowid AS row, ${bytesOf(columns)} AS bytes, position AS place FROM`;
  // a prune may drop steps of the source during the copy, and then their large values. So large values are copied
  // first, and the newest steps before older ones: the fork is complete, as after the prune
  const copies: readonly {
    readonly start: number;
    /** Count below which rows are copied, as `?3` of `next`. */
    readonly below: 'messageCount' | 'stepCount' | 'compactionCount';
    readonly next: SqliteStatement;
    readonly copy: SqliteStatement;
  }[] = [
    {
      start: 0,
      below: 'stepCount',
      next: db.prepare(
        `SELECT rowid AS row, rowid AS place, ${bytesOf(['body'])} AS bytes FROM blobs WHERE rowid IN (
         SELECT rowid FROM blobs WHERE session = ?1 AND rowid > ?2
         AND (scope = '' OR scope IN (SELECT execution_id FROM ${ofRoot('steps', '?3')}))
         ORDER BY rowid LIMIT ${SLICE_ROWS}) ORDER BY rowid`,
      ),
      copy: db.prepare(
        `INSERT INTO blobs (session, scope, hash, body)
         SELECT ?1, scope, hash, body FROM blobs WHERE rowid = ?2 AND ?3 = ?3`,
      ),
    },
    {
      start: -1,
      below: 'messageCount',
      next: db.prepare(
        `${place('messages', ['body'])} ${ofRoot('messages', '?3')} AND position > ?2
         ORDER BY era, position LIMIT ${SLICE_ROWS}`,
      ),
      copy: db.prepare(
        `INSERT INTO messages (session, era, agent_id, position, role, body)
         SELECT ?1, ?3, agent_id, position, role, body FROM messages WHERE rowid = ?2`,
      ),
    },
    {
      start: -1,
      below: 'compactionCount',
      next: db.prepare(
        `SELECT rowid AS row, position AS place, ${bytesOf(['body'])} AS bytes FROM compactions
         WHERE session = ?1 AND agent_id = '' AND position > ?2 AND position < ?3
         ORDER BY position LIMIT ${SLICE_ROWS}`,
      ),
      copy: db.prepare(
        `INSERT INTO compactions (session, agent_id, position, kind, to_position, body)
         SELECT ?1, agent_id, position, kind, to_position, body FROM compactions WHERE rowid = ?2 AND ?3 = ?3`,
      ),
    },
    {
      start: Number.MAX_SAFE_INTEGER,
      below: 'stepCount',
      next: db.prepare(
        `${place('steps', ['body', 'mark'])} ${ofRoot('steps', '?3')} AND position < ?2
         ORDER BY era DESC, position DESC LIMIT ${SLICE_ROWS}`,
      ),
      copy: db.prepare(
        `INSERT INTO steps (session, era, agent_id, position, execution_id, body, mark)
         SELECT ?1, ?3, agent_id, position, execution_id, body, mark FROM steps WHERE rowid = ?2`,
      ),
    },
  ];
  const copyExecutions = db.prepare(
    `INSERT INTO executions (session, execution_id, content_hash)
     SELECT ?, execution_id, content_hash FROM executions
     WHERE session = ? AND execution_id IN (SELECT execution_id FROM ${history('steps', '?')})`,
  );
  const copyWaits = db.prepare(
    // the forked execution continues under another id
    `INSERT OR IGNORE INTO waits (session, call_id, execution_id)
     SELECT ?1, call_id, CASE WHEN execution_id = (SELECT execution_id FROM ${history('steps', '?1')}
       ORDER BY era DESC, position DESC LIMIT 1) THEN ifnull(?3, execution_id) ELSE execution_id END
     FROM waits WHERE session = ?2 AND execution_id IN (SELECT execution_id FROM ${history('steps', '?1')})`,
  );
  const keyOf = (sessionId: string): number | undefined =>
    (findKey.get(sessionId) as { key: number } | undefined)?.key;

  const begun = (source: number): Copying => {
    const fork = uuid();
    const made = begin.get(fork, machineMs() + COPY_LEASE_MS) as { key: number; era: number };
    addEra.run(made.key, made.era);
    return { fork, source, ...made, table: 0, place: copies[0]?.start ?? 0 };
  };

  /** Copies rows for one slice. Returns null when every row is copied. */
  function copyRows(copying: Copying, row: ForkedSessionRow): Copying | null {
    const { source, key, era } = copying;
    const slice = new Slice();
    for (let table = copying.table; table < copies.length; table++) {
      const { start, below, next, copy } = copies[table] as (typeof copies)[number]; // below its length
      let place = table === copying.table ? copying.place : start;
      for (;;) {
        const rows = next.all(source, place, row[below] ?? 0) as PlacedRow[];
        for (const found of rows) {
          if (!slice.take(found.bytes)) return { ...copying, table, place };
          copy.run(key, found.row, era);
          ({ place } = found);
        }
        if (rows.length < SLICE_ROWS) break;
      }
    }
    return null;
  }

  return {
    copy(fromId, row, before) {
      const source = keyOf(fromId);
      const isPossible = source !== undefined && keyOf(row.id) === undefined;
      if (!isPossible || (before && before.source !== source)) {
        if (before) abandon.run(before.key, before.fork);
        return false;
      }
      if (before) {
        const renewed = renew.run(machineMs() + COPY_LEASE_MS, before.key, before.fork);
        if (Number(renewed.changes) === 0) throw forgotten(row.id);
      }
      const copying = before ?? begun(source);
      const left = copyRows(copying, row);
      if (left) return left;
      const { key, era } = copying;
      copyExecutions.run(key, source, key);
      copyWaits.run(key, source, row.executionId);
      end.run(key);
      return insert(row, key, era);
    },
  };
}

const forgotten = (id: string): AgentError =>
  new AgentError(
    'store_failed',
    `The fork "${id}" failed: the process stalled for more than ${COPY_LEASE_MS / 1000} s, and the copied rows were removed. Fork again.`,
    { details: { id } },
  );
