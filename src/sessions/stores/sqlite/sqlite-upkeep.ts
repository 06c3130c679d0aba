import { READS, type SessionPhase } from '../../session-rows.ts';
import type { ExpireRequest, UpkeepRequest } from '../../session-store.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import type { SqliteRemains } from './sqlite-remains.ts';
import { bytesOf, history, ofSession, texts } from './sqlite-rows.ts';
import { SLICE_ROWS, type SizedRow, Slice } from './sqlite-slice.ts';
import { expiring } from '../upkeep-rules.ts';

/** A position in the owner index. */
export interface Place {
  readonly owner: string;
  readonly updatedAt: string;
  readonly id: string;
}

export const START: Place = { owner: '', updatedAt: '', id: '' };

/** Result for one session in one transaction. */
export interface Dropping {
  readonly rows: number;
  /** Whether the session was due, even if it had no rows to drop. */
  readonly isDue: boolean;
  /** Whether the session is finished. If not, the next transaction continues with it. */
  readonly isDone: boolean;
}

interface Found {
  readonly key: number;
  readonly phase: SessionPhase;
  readonly executionId: string;
}

export interface SqliteUpkeep {
  /**
   * Returns the next sessions after a position, without those that changed since `olderThan`. `last` is null when there
   * are no more sessions.
   */
  page(
    after: Place,
    request: UpkeepRequest,
  ): { readonly ids: string[]; readonly last: Place | null };
  /** Prunes these sessions in order, for one {@link Slice}. */
  prune(ids: readonly string[], request: UpkeepRequest): Dropping[];
  /** Deletes these sessions for one {@link Slice}. Their rows remain. */
  expire(ids: readonly string[], request: ExpireRequest): Dropping[];
  /** Deletes a session; its rows remain. Returns false if it does not exist. */
  hide(sessionId: string, slice: Slice): boolean;
}

const MOST_SESSIONS = 20;
const PAGE = 500;

/** Implements upkeep of many sessions in short slices, however large the sessions are. */
export function upkeep(db: SqliteDatabase, remains: SqliteRemains): SqliteUpkeep {
  // reads only the index, because the rows have whole states
  const place =
    'SELECT owner, updated_at AS updatedAt, id FROM sessions INDEXED BY sessions_of_owner';
  const order = `ORDER BY owner, updated_at, id LIMIT ${PAGE}`;
  const pageOfAll = db.prepare(`${place} WHERE (owner, updated_at, id) > (?, ?, ?) ${order}`);
  const pageOfOwner = db.prepare(
    `${place} WHERE owner = ? AND (updated_at, id) > (?, ?) AND updated_at < ? ${order}`,
  );
  const find = db.prepare(
    `SELECT key, phase, coalesce(execution_id, (SELECT execution_id FROM ${history('steps', 'key')} AND agent_id = ''
     ORDER BY era DESC, position DESC LIMIT 1), '') AS executionId FROM sessions
     WHERE id = ? AND updated_at < ? AND requires <= ${READS}`,
  );
  const findKey = db.prepare('SELECT key FROM sessions WHERE id = ?');
  const isEarlier = 'execution_id <> ?2';
  const isOfEarlier = `agent_id IN (SELECT agent_id FROM agents WHERE session = ?1
    EXCEPT SELECT agent_id FROM agents WHERE session = ?1 AND execution_id = ?2)`;
  // rows that refer to large values and agents are dropped before them, because a slice may end in between
  const drops: readonly (readonly [table: string, condition: string])[] = [
    ['events', '?2 = ?2'],
    ['steps', isEarlier],
    ['calls', isEarlier],
    ['messages', isOfEarlier],
    ['compactions', isOfEarlier],
    ['blobs', `scope NOT IN ('', ?2)`],
    ['agents', isEarlier],
  ];
  const pieces = drops.map(([table, condition]) => ({
    some: db.prepare(
      `SELECT rowid AS row, ${bytesOf(columnsOf(table))} AS bytes FROM ${table}
       WHERE ${ofSession(table)} AND ${condition} LIMIT ${SLICE_ROWS}`,
    ),
    drop: db.prepare(`DELETE FROM ${table} WHERE rowid = ?`),
  }));

  const found = (
    id: string,
    { olderThan }: UpkeepRequest,
    phases: readonly SessionPhase[],
  ): Found | null => {
    const row = find.get(id, olderThan) as Found | undefined;
    return row && phases.includes(row.phase) ? row : null;
  };

  const pruneRows = (key: number, executionId: string, slice: Slice): Dropping => {
    let rows = 0;
    for (const { some, drop } of pieces)
      for (;;) {
        const found = some.all(key, executionId) as SizedRow[];
        for (const { row, bytes } of found) {
          if (!slice.take(bytes)) return { rows, isDue: true, isDone: false };
          rows += Number(drop.run(row).changes);
        }
        if (found.length < SLICE_ROWS) break;
      }
    return { rows, isDue: true, isDone: true };
  };

  const inSlice = (
    ids: readonly string[],
    work: (id: string, slice: Slice) => Dropping,
  ): Dropping[] => {
    const slice = new Slice();
    const droppings: Dropping[] = [];
    for (const id of ids.slice(0, MOST_SESSIONS)) {
      const dropping = work(id, slice);
      droppings.push(dropping);
      if (!dropping.isDone || slice.isOver) break;
    }
    return droppings;
  };

  return {
    page(after, { olderThan, owner }) {
      const rows = (
        owner === undefined
          ? pageOfAll.all(after.owner, after.updatedAt, after.id)
          : pageOfOwner.all(owner, after.updatedAt, after.id, olderThan)
      ) as Place[];
      const due = rows.filter(({ updatedAt }) => updatedAt < olderThan);
      return { ids: due.map(({ id }) => id), last: rows.at(-1) ?? null };
    },
    prune: (ids, request) =>
      inSlice(ids, (id, slice) => {
        const row = found(id, request, ['idle']);
        return row ? pruneRows(row.key, row.executionId, slice) : nothing;
      }),
    expire: (ids, request) =>
      inSlice(ids, (id, slice) => {
        const row = found(id, request, expiring(request));
        if (!row) return nothing;
        if (request.dryRun) return untouched;
        remains.hide(row.key, slice);
        return { ...untouched, rows: 1 };
      }),
    hide(sessionId, slice) {
      const row = findKey.get(sessionId) as { key: number } | undefined;
      if (row) remains.hide(row.key, slice);
      return row !== undefined;
    },
  };
}

const columnsOf = (table: string): readonly string[] =>
  texts.find(([name]) => name === table)?.[1] ?? [];

const untouched: Dropping = { rows: 0, isDue: true, isDone: true };
const nothing: Dropping = { ...untouched, isDue: false };
