import { READS } from '../../session-rows.ts';
import type { Dropped, ExpireRequest, SessionStore, UpkeepRequest } from '../../session-store.ts';
import type { Database } from './postgres-pool.ts';
import { childTables } from './postgres-child-tables.ts';
import { expiring, inBatches } from '../upkeep-rules.ts';

type Batches = Pick<SessionStore, 'prune' | 'expire'>;

/** Sessions per lookup, which holds no locks. */
const PAGE = 500;
/**
 * Target duration of a transaction in milliseconds, because it locks the rows of its sessions. The group size adapts to
 * it.
 */
const BATCH_MS = 20;
const MOST_SESSIONS = 100;
/** Most rows of one table that a transaction drops. */
const MOST_ROWS = 1_000;

interface Due {
  readonly id: string;
  readonly updatedAt: string;
}

interface Slice {
  /** Sessions of which rows were dropped. */
  readonly touched: readonly string[];
  readonly rows: number;
  /** Whether a table has more to drop. */
  readonly hasMore: boolean;
}

/** Prunes and expires many sessions, a few at a time. Skips a session that another transaction has locked. */
export function sessionBatches(db: Database, schema: string): Batches {
  const { durably } = db;
  const isDue = (phases: string, olderThan: string, owner: string): string =>
    `s.phase = any(${phases}::text[]) and s.updated_at < ${olderThan} and s.requires <= ${READS}
      and (${owner}::text is null or s.owner = ${owner})`;
  const isUnpruned = 's.pruned_revision is distinct from s.revision';

  const pageText = (andOnly: string, isOwned: boolean): string => `
    select s.id, s.updated_at as "updatedAt" from ${schema}.sessions s
    where ${isDue('$1', '$2', '$3')} ${andOnly} ${isOwned ? 'and s.owner = $3' : ''}
      and (s.updated_at, s.id) > ($4, $5)
    order by s.updated_at, s.id limit ${PAGE}`;

  const isEarlier = 'r.execution_id is distinct from idle.execution_id';
  const isOfLast = `exists (select from last_agents k where k.session_id = r.session_id and k.agent_id = r.agent_id)`;
  // rows that refer to large values and agents are dropped before them, because a batch may end in between
  const drops: readonly (readonly [table: string, condition: string])[] = [
    ['events', 'true'],
    ['steps', `${isEarlier} and not ${isOfLast}`],
    ['calls', isEarlier],
    ['messages', `r.agent_id <> '' and not ${isOfLast}`],
    ['compactions', `r.agent_id <> '' and not ${isOfLast}`],
    ['blobs', `r.scope <> '' and r.scope is distinct from idle.execution_id`],
    ['agents', isEarlier],
  ];
  const isFull = (table: string): string => `(select count(*) from ${table}_some) = ${MOST_ROWS}`;
  const pruneText = `with idle as materialized (
      select s.id, s.execution_id from ${schema}.sessions s
      where s.id = any($4::text[]) and ${isDue('$1', '$2', '$3')} and ${isUnpruned}
      order by s.id for update skip locked),
    last_agents as (
      select a.session_id, a.agent_id from ${schema}.agents a
      join idle on a.session_id = idle.id and a.execution_id = idle.execution_id),
    ${drops
      .map(
        ([table, condition], i) => `${table}_some as materialized (
      select r.ctid, r.session_id from idle join ${schema}.${table} r on r.session_id = idle.id
      where ${condition} ${drops
        .slice(0, i)
        .map(([before]) => `and not ${isFull(before)}`)
        .join(' ')}
      limit ${MOST_ROWS}),
    ${table}_dropped as (
      delete from ${schema}.${table} r using ${table}_some d where r.ctid = d.ctid returning r.session_id)`,
      )
      .join(', ')},
    more as (select ${drops.map(([table]) => isFull(table)).join(' or ')} as more),
    marked as (
      update ${schema}.sessions s set pruned_revision = s.revision from idle, more
      where s.id = idle.id and not more.more)
    select array_agg(distinct d.session_id) as touched, count(d.session_id)::float8 as rows,
      (select more from more) as "hasMore"${durably}
    from (${drops.map(([table]) => `select session_id from ${table}_dropped`).join(' union all ')}) d`;

  /**
   * Yields due sessions, oldest first. A session that changes in between moves to another position or is no longer due.
   */
  async function* pages(
    request: UpkeepRequest,
    phases: readonly string[],
    andOnly: string,
  ): AsyncGenerator<readonly string[]> {
    const { olderThan, owner } = request;
    const text = pageText(andOnly, owner !== undefined);
    let last: Due = { id: '', updatedAt: '' };
    for (;;) {
      const page = await db.read<Due>('find old sessions', text, [
        phases,
        olderThan,
        owner ?? null,
        last.updatedAt,
        last.id,
      ]);
      if (page.length > 0) yield page.map(({ id }) => id);
      last = page.at(-1) ?? last;
      if (page.length < PAGE) return;
    }
  }

  async function* inGroups(
    ids: readonly string[],
    size: GroupSize,
    work: (some: readonly string[]) => AsyncGenerator<Dropped>,
  ): AsyncGenerator<Dropped> {
    for (let at = 0; at < ids.length;) {
      const some = ids.slice(at, at + size.now);
      at += some.length;
      yield* work(some);
    }
  }

  /** Prunes the group repeatedly until nothing is left to drop. */
  async function* pruneGroup(
    { olderThan, owner }: UpkeepRequest,
    ids: readonly string[],
    size: GroupSize,
  ): AsyncGenerator<Dropped> {
    const counted = new Set<string>();
    for (;;) {
      const slice = await size.measured(async () => {
        const values = [['idle'], olderThan, owner ?? null, ids];
        const [dropped] = await db.run<Slice>('prune sessions', pruneText, values);
        return dropped;
      });
      const before = counted.size;
      for (const id of slice?.touched ?? []) counted.add(id);
      yield { sessions: counted.size - before, rows: slice?.rows ?? 0 };
      if (!slice?.hasMore) return;
    }
  }

  async function* prune(request: UpkeepRequest): AsyncGenerator<Dropped> {
    const size = new GroupSize();
    for await (const ids of pages(request, ['idle'], `and ${isUnpruned}`))
      yield* inGroups(ids, size, (some) => pruneGroup(request, some, size));
  }

  const deleteGroup = (request: ExpireRequest, ids: readonly string[]): Promise<Dropped> =>
    db.transaction(
      'expire sessions',
      async (run) => {
        const { olderThan, owner } = request;
        const due = await run<{ id: string }>(
          `select s.id from ${schema}.sessions s
        where s.id = any($4::text[]) and ${isDue('$1', '$2', '$3')} order by s.id for update skip locked`,
          [expiring(request), olderThan, owner ?? null, ids],
        );
        if (due.length === 0) return { sessions: 0, rows: 0 };
        // in a separate statement after the lock, so that it sees all earlier writes
        const tables = [...childTables.map((table) => [table, 'session_id']), ['sessions', 'id']];
        const deletes = tables.map(
          ([table, key]) => `${table}_gone as (
        delete from ${schema}.${table} where ${key} = any($1::text[]) returning 1)`,
        );
        const counts = tables.map(([table]) => `(select count(*) from ${table}_gone)`);
        const [gone] = await run<{ rows: number }>(
          `with ${deletes.join(', ')} select (${counts.join(' + ')})::float8 as rows`,
          [due.map(({ id }) => id)],
        );
        return { sessions: due.length, rows: gone?.rows ?? 0 };
      },
      { timeoutMs: db.longTimeoutMs },
    );

  async function* expire(request: ExpireRequest): AsyncGenerator<Dropped> {
    const pruning = new GroupSize();
    const deleting = new GroupSize();
    for await (const ids of pages(request, expiring(request), '')) {
      if (request.dryRun) {
        yield { sessions: ids.length, rows: 0 };
        continue;
      }
      yield* inGroups(ids, deleting, async function* (some) {
        // the log of a session can be long, so short transactions drop most of it first
        for await (const { rows } of pruneGroup(request, some, pruning))
          yield { sessions: 0, rows };
        yield await deleting.measured(() => deleteGroup(request, some));
      });
    }
  }

  return {
    prune: (request) => inBatches(request, prune(request)),
    expire: (request) => inBatches(request, expire(request)),
  };
}

/** Number of sessions per transaction, adapted to how long the last one took. */
class GroupSize {
  now = 4;

  async measured<T>(work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    const result = await work();
    const share = BATCH_MS / Math.max(1, performance.now() - start);
    this.now = Math.max(1, Math.min(MOST_SESSIONS, Math.floor(this.now * Math.min(2, share))));
    return result;
  }
}
