import type { ExpireRequest, Dropped, SessionStore, UpkeepRequest } from '../../session-store.ts';
import type { GroupCommit } from '../group-commit.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import type { Copying, SqliteFork } from './sqlite-fork.ts';
import type { Remains, SqliteRemains } from './sqlite-remains.ts';
import { Slice } from './sqlite-slice.ts';
import { betweenSlices, giveSpaceBack } from './sqlite-space.ts';
import { type Place, type SqliteUpkeep, START } from './sqlite-upkeep.ts';
import { inBatches } from '../upkeep-rules.ts';

/** Parts of an open file that operations on whole sessions need. */
export interface SlicedConnection {
  readonly db: SqliteDatabase;
  readonly group: GroupCommit;
  readonly upkeep: SqliteUpkeep;
  readonly remains: SqliteRemains;
  readonly forks: SqliteFork;
}

/** How long a deletion may spend on freeing space, in milliseconds. */
const TIDYING_MS = 250;

/** Implements the operations on whole sessions in short transactions, so that other writers get turns in between. */
export function sliced(
  connection: () => Promise<SlicedConnection>,
  reading: <T>(operation: string, attempt: () => T) => Promise<T>,
): Pick<SessionStore, 'fork' | 'delete' | 'prune' | 'expire'> {
  /** Frees space. The rows are already deleted, so a failure is left to the next time. */
  const tidy = async (longestMs: number): Promise<void> => {
    const open = await connection().catch(() => null);
    if (open) await giveSpaceBack(open.db, open.group, longestMs);
  };
  let tidying: Promise<void> | null = null;
  const tidyShortly = (): Promise<void> => {
    // concurrent deletions share it, because the log is emptied last
    tidying ??= tidy(TIDYING_MS).finally(() => (tidying = null));
    return tidying;
  };

  async function* cleared(operation: string, from: Remains): AsyncGenerator<number> {
    for (let left = from; left.keys.length > 0;) {
      const { db, group, remains } = await connection();
      const some = left;
      const dropped = await group.add(operation, () => remains.drop(some));
      ({ left } = dropped);
      yield dropped.rows;
      await betweenSlices(db);
    }
  }
  /** Drops all remaining rows, including those of a dead process. Yields the number of rows. */
  async function* clearedAll(operation: string): AsyncGenerator<number> {
    const { remains } = await connection();
    yield* cleared(operation, await reading(operation, () => remains.find()));
  }

  async function* dropped(
    operation: 'prune' | 'expire',
    request: UpkeepRequest & ExpireRequest,
  ): AsyncGenerator<Dropped> {
    const { db, upkeep } = await connection();
    let isTidy = true;
    const clear = async function* (): AsyncGenerator<Dropped> {
      for await (const rows of clearedAll(operation)) {
        isTidy = false;
        yield { sessions: 0, rows };
      }
    };
    try {
      for (let place: Place | null = START; place;) {
        const { ids, last }: ReturnType<SqliteUpkeep['page']> = await reading(operation, () =>
          upkeep.page(place ?? START, request),
        );
        place = last;
        let rest: readonly string[] = ids;
        let rows = 0; // of the current session
        while (rest.length > 0) {
          const some = rest;
          const { group } = await connection();
          const droppings = await group.add(operation, () => upkeep[operation](some, request));
          let [sessions, sum] = [0, 0];
          for (const dropping of droppings) {
            sum += dropping.rows;
            rows += dropping.rows;
            if (!dropping.isDone) continue;
            sessions += Number(operation === 'expire' ? dropping.isDue : rows > 0);
            rows = 0;
          }
          rest = rest.slice(droppings.filter(({ isDone }) => isDone).length);
          if (sum > 0) isTidy = false;
          yield { sessions, rows: sum };
          if (sum > 0) await betweenSlices(db);
          if (sum > 0 && operation === 'expire') yield* clear();
        }
      }
    } finally {
      // finish what was begun, even if the caller stops early
      if (request.dryRun !== true) for await (const _ of clear());
      if (!isTidy) await tidy(Number.POSITIVE_INFINITY);
    }
  }

  return {
    async fork(fromId, session) {
      let copying: Copying | null = null;
      for (;;) {
        const { db, group, forks } = await connection();
        const before: Copying | null = copying;
        const copied: boolean | Copying = await group.add<boolean | Copying>('fork', () =>
          forks.copy(fromId, session, before),
        );
        if (copied === true || (copied === false && !copying)) return copied;
        if (copied === false) break;
        copying = copied;
        await betweenSlices(db);
      }
      for await (const _ of clearedAll('fork'));
      await tidyShortly();
      return false;
    },
    async delete(sessionId) {
      const { db, group, upkeep, remains } = await connection();
      const { isGone, isClear, left } = await group.add('delete', () => {
        const slice = new Slice();
        const isGone = upkeep.hide(sessionId, slice);
        const found = remains.find();
        return { isGone, isClear: found.keys.length === 0, ...remains.drop(found, slice) };
      });
      if (left.keys.length > 0) await betweenSlices(db);
      for await (const _ of cleared('delete', left));
      if (!isClear) await tidyShortly();
      return isGone;
    },
    prune: (request) => inBatches(request, dropped('prune', request)),
    expire: (request) => inBatches(request, dropped('expire', request)),
  };
}
