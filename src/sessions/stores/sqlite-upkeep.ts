import { READS, type SessionPhase } from '../session-rows.ts';
import type { ExpireRequest, UpkeepRequest } from '../session-store.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { history, ofSession } from './sqlite-rows.ts';
import { removal } from './sqlite-sessions.ts';
import { expiring } from './upkeep-rules.ts';

/** A place in the index of owners. */
export interface Place {
  readonly owner: string;
  readonly updatedAt: string;
  readonly id: string;
}

export const START: Place = { owner: '', updatedAt: '', id: '' };

/** What became of one session in one transaction. */
export interface Dropping {
  readonly rows: number;
  /** Whether it was there to be dropped, be it nothing. */
  readonly isDue: boolean;
  /** False if the next transaction has to continue with it. */
  readonly isDone: boolean;
}

interface Found {
  readonly key: number;
  readonly phase: SessionPhase;
  readonly isLong: number;
  readonly executionId: string;
}

export interface SqliteUpkeep {
  /** The next sessions behind a place. A page without any is the last; those that changed since are left out. */
  page(
    after: Place,
    request: UpkeepRequest,
  ): { readonly ids: string[]; readonly last: Place | null };
  /** Works on these sessions, in order, for about {@link SLICE_MS}. */
  prune(ids: readonly string[], request: UpkeepRequest): Dropping[];
  expire(ids: readonly string[], request: ExpireRequest): Dropping[];
  /** Prunes a long session that is to be deleted, for as long; false if there is more to prune. */
  shorten(sessionId: string): boolean;
}

/** How long one transaction works: others of this process and of other ones wait for it. */
const SLICE_MS = 8;
const MOST_SESSIONS = 20;
const PAGE = 500;
/** Later than all times. */
const EVER = '9999';
/** Steps, messages and events of a session that is not deleted in one transaction. */
const LONG = 300;

/** Upkeep over many sessions, in pieces that are short whatever the sessions hold. */
export function upkeep(db: SqliteDatabase): SqliteUpkeep {
  // reads the index alone: the rows hold whole states
  const place =
    'SELECT owner, updated_at AS updatedAt, id FROM sessions INDEXED BY sessions_of_owner';
  const order = `ORDER BY owner, updated_at, id LIMIT ${PAGE}`;
  const pageOfAll = db.prepare(`${place} WHERE (owner, updated_at, id) > (?, ?, ?) ${order}`);
  const pageOfOwner = db.prepare(
    `${place} WHERE owner = ? AND (updated_at, id) > (?, ?) AND updated_at < ? ${order}`,
  );
  const find = db.prepare(
    `SELECT key, phase, phase = 'idle' AND step_count + message_count + seq > ${LONG} AS isLong, coalesce(execution_id, (SELECT execution_id FROM ${history('steps', 'key')} AND agent_id = ''
     ORDER BY era DESC, position DESC LIMIT 1), '') AS executionId FROM sessions
     WHERE id = ? AND updated_at < ? AND requires <= ${READS}`,
  );
  const isEarlier = 'execution_id <> ?2';
  // what refers to large values and agents goes before them, for a slice may end in between
  const drops: readonly (readonly [table: string, condition: string, atOnce: number])[] = [
    ['events', '?2 = ?2', 100],
    ['steps', isEarlier, 100],
    ['calls', isEarlier, 100],
    [
      'messages',
      `agent_id IN (SELECT agent_id FROM agents WHERE session = ?1
        EXCEPT SELECT agent_id FROM agents WHERE session = ?1 AND execution_id = ?2)`,
      100,
    ],
    ['blobs', `scope NOT IN ('', ?2)`, 2], // a large value may have megabytes
    ['agents', isEarlier, 100],
  ];
  const pieces = drops.map(([table, condition, atOnce]) => ({
    atOnce,
    drop: db.prepare(
      `DELETE FROM ${table} WHERE rowid IN (
         SELECT rowid FROM ${table} WHERE ${ofSession(table)} AND ${condition} LIMIT ${atOnce})`,
    ),
  }));
  const remove = removal(db);

  const found = (
    id: string,
    { olderThan }: UpkeepRequest,
    phases: readonly SessionPhase[],
  ): Found | null => {
    const row = find.get(id, olderThan) as Found | undefined;
    return row && phases.includes(row.phase) ? row : null;
  };

  const pruneRows = (key: number, executionId: string, endsAt: number): Dropping => {
    let rows = 0;
    for (const { drop, atOnce } of pieces)
      for (;;) {
        const dropped = Number(drop.run(key, executionId).changes);
        rows += dropped;
        if (dropped < atOnce) break;
        if (performance.now() >= endsAt) return { rows, isDue: true, isDone: false };
      }
    return { rows, isDue: true, isDone: true };
  };

  const inTime = (
    ids: readonly string[],
    work: (id: string, endsAt: number) => Dropping,
  ): Dropping[] => {
    const endsAt = performance.now() + SLICE_MS;
    const droppings: Dropping[] = [];
    for (const id of ids.slice(0, MOST_SESSIONS)) {
      const dropping = work(id, endsAt);
      droppings.push(dropping);
      if (!dropping.isDone || performance.now() >= endsAt) break;
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
      inTime(ids, (id, endsAt) => {
        const row = found(id, request, ['idle']);
        return row ? pruneRows(row.key, row.executionId, endsAt) : nothing;
      }),
    shorten(sessionId) {
      const row = found(sessionId, { olderThan: EVER }, ['idle']);
      if (!row?.isLong) return true;
      return pruneRows(row.key, row.executionId, performance.now() + SLICE_MS).isDone;
    },
    expire: (ids, request) =>
      inTime(ids, (id, endsAt) => {
        const row = found(id, request, expiring(request));
        if (!row) return nothing;
        if (request.dryRun) return untouched;
        // the log of a long session goes first, in several transactions if it has to
        const pruned = row.isLong ? pruneRows(row.key, row.executionId, endsAt) : untouched;
        return pruned.isDone ? { ...pruned, rows: pruned.rows + remove(row.key) } : pruned;
      }),
  };
}

const untouched: Dropping = { rows: 0, isDue: true, isDone: true };
const nothing: Dropping = { ...untouched, isDue: false };
