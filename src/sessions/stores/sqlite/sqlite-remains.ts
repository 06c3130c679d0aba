import type { SqliteDatabase, SqliteStatement } from './sqlite-database.ts';
import { bootId, machineMs } from '../machine-time.ts';
import { bytesOf, ofSession, texts } from './sqlite-rows.ts';
import { SLICE_ROWS, type SizedRow, Slice } from './sqlite-slice.ts';

/** Progress of overwriting the texts of a key: up to a row of a table. */
export interface Blanked {
  readonly table: number;
  readonly row: number;
}

/** Keys whose rows are to be dropped, in order, and the progress of the first one. */
export interface Remains {
  readonly keys: readonly number[];
  readonly blanked: Blanked;
}

export interface SqliteRemains {
  /**
   * Deletes the main row of a session, so that no query finds it. Its other rows remain under a key that no session
   * has.
   */
  hide(key: number, slice: Slice): void;
  /** Finds rows of deleted sessions, and of forks whose process died. */
  find(): Remains;
  /** Drops as many rows as fit into a slice. Returns their number and what is left. */
  drop(remains: Remains, slice?: Slice): { readonly rows: number; readonly left: Remains };
}

/** How long an unfinished fork counts as alive without a renewal, in milliseconds. */
export const COPY_LEASE_MS = 60_000;

const START: Blanked = { table: 0, row: 0 };

/**
 * Drops the rows of a session in short transactions. No query can read them in between, and the next process finishes
 * the work of one that died. All texts are overwritten in place before the first row is deleted: during deletion,
 * SQLite moves other rows between pages and leaves copies of them in unused space.
 */
export function remains(db: SqliteDatabase): SqliteRemains {
  const tables = texts.filter(([, columns]) => columns.length > 0);
  const blank = (table: string, columns: readonly string[], key: string): SqliteStatement => {
    const blanks = columns.map((text) => `${text} = CAST(zeroblob(octet_length(${text})) AS TEXT)`);
    return db.prepare(`UPDATE ${table} SET ${blanks.join(', ')} WHERE ${key} = ?`);
  };
  const some = (table: string, columns: readonly string[], where: string): SqliteStatement =>
    db.prepare(
      `SELECT rowid AS row, ${bytesOf(columns)} AS bytes FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table}
       WHERE ${ofSession(table)} ${where} LIMIT ${SLICE_ROWS}) ORDER BY rowid`,
    );
  const works = tables.map(([table, columns]) => ({
    unblanked: some(table, columns, 'AND rowid > ?2 ORDER BY rowid'),
    blank: blank(table, columns, 'rowid'),
    any: some(table, columns, ''),
    drop: db.prepare(`DELETE FROM ${table} WHERE rowid = ?`),
  }));
  const headBytes = db.prepare(`SELECT ${bytesOf(['head'])} AS bytes FROM sessions WHERE key = ?`);
  const blankHead = blank('sessions', ['head'], 'key');
  const dropSession = db.prepare('DELETE FROM sessions WHERE key = ?');
  const leave = db.prepare('INSERT INTO remains (key) VALUES (?)');
  const dropWaits = db.prepare('DELETE FROM waits WHERE session = ?');
  const dropEras = db.prepare('DELETE FROM eras WHERE session = ?');
  const end = db.prepare('DELETE FROM remains WHERE key = ?');
  const isLeft = `(fork IS NULL OR lease_boot <> '${bootId}' OR ? NOT BETWEEN lease_end - ${COPY_LEASE_MS} AND lease_end)`;
  const find = db.prepare(`SELECT key FROM remains WHERE ${isLeft} ORDER BY key`);
  const take = db.prepare(`UPDATE remains SET fork = NULL WHERE key = ? AND ${isLeft}`);

  /** Overwrites texts for one slice. Returns the progress, or null when all texts of the key are overwritten. */
  function blankRows(key: number, { table, row }: Blanked, slice: Slice): Blanked | null {
    let place = row;
    for (let i = table; i < works.length; i++, place = 0) {
      const work = works[i] as (typeof works)[number]; // below its length
      for (;;) {
        const rows = work.unblanked.all(key, place) as SizedRow[];
        for (const found of rows) {
          if (!slice.take(found.bytes)) return { table: i, row: place };
          work.blank.run(found.row);
          place = found.row;
        }
        if (rows.length < SLICE_ROWS) break;
      }
    }
    return null;
  }

  function dropRows(
    key: number,
    slice: Slice,
  ): { readonly rows: number; readonly isDone: boolean } {
    let rows = 0;
    for (const { any, drop } of works)
      for (;;) {
        const found = any.all(key) as SizedRow[];
        for (const { row, bytes } of found) {
          if (!slice.take(bytes)) return { rows, isDone: false };
          rows += Number(drop.run(row).changes);
        }
        if (found.length < SLICE_ROWS) break;
      }
    rows += Number(dropWaits.run(key).changes);
    dropEras.run(key); // last, because rows are found by their era
    end.run(key);
    return { rows, isDone: true };
  }

  return {
    hide(key, slice) {
      const { bytes } = headBytes.get(key) as { bytes: number };
      slice.take(bytes);
      blankHead.run(key);
      // first: a trigger forgets what has no entry here
      leave.run(key);
      dropSession.run(key);
    },
    find: () => ({
      keys: (find.all(machineMs()) as { key: number }[]).map(({ key }) => key),
      blanked: START,
    }),
    drop(remains, slice = new Slice()) {
      let [rows, blanked] = [0, remains.blanked];
      for (const [i, key] of remains.keys.entries()) {
        const left = (at: Blanked): ReturnType<SqliteRemains['drop']> => ({
          rows,
          left: { keys: remains.keys.slice(i), blanked: at },
        });
        if (i > 0 && slice.isOver) return left(START);
        // another process may have finished it, and the key may be in use again
        if (Number(take.run(key, machineMs()).changes) > 0) {
          const place = blankRows(key, blanked, slice);
          if (place) return left(place);
          const dropped = dropRows(key, slice);
          rows += dropped.rows;
          if (!dropped.isDone) return left(ALL_BLANK);
        }
        blanked = START;
      }
      return { rows, left: { keys: [], blanked: START } };
    },
  };
}

const ALL_BLANK: Blanked = { table: texts.length, row: 0 };
