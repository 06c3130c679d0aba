import { AgentError } from '../errors/agent-error.ts';
import { checkedActor, checkedLimit, checkedOwner, isSessionId } from './check-names.ts';
import { feedsOf } from './feed/feeds-of.ts';
import { queueView, type QueueView } from './queue-view.ts';
import { cursorOf, placeOf } from './list-cursor.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { AnySessionRuntime } from './session-handle.ts';
import type { SessionRow } from './session-rows.ts';
import { lastRetryOf, type RetryRecord } from './retry-record.ts';
import { workerView, type WorkerView } from './worker-view.ts';

/** A parked session as operators see it, without anything of its conversation. */
export interface ParkedSession {
  readonly id: string;
  readonly owner: string;
  readonly agent: string;
  /** Why it is parked, in at most 1,000 characters and without secrets; null where no reason was kept. */
  readonly error: string | null;
  /** After how many tries without progress it was parked. */
  readonly tries: number;
  /** How many processes ended in the middle of its execution. */
  readonly deaths: number;
  readonly parkedAt: string;
  /** Who continued it the last time it was parked, and when; null if that never happened. */
  readonly lastRetry: RetryRecord | null;
}

interface ParkedPage {
  readonly sessions: readonly ParkedSession[];
  /** Give it to the next `parked`; null on the last page. */
  readonly cursor: string | null;
}

export interface ParkedOptions {
  readonly owner?: string;
  readonly agent?: string;
  /** Most sessions of the page, at most 200. Default 50. */
  readonly limit?: number;
  /** That of the page before. */
  readonly cursor?: string;
}

interface RetriedSessions {
  /** Ids of sessions that were parked and are open now. */
  readonly retried: readonly string[];
  /** Ids of sessions that are not parked, or do not exist. */
  readonly skipped: readonly string[];
}

/** Shows the work of all owners: for the people who run the system, never for an ordinary user. */
export interface SessionOperator {
  /** Workers that hold leases or have reported in the last hour, ordered by id. */
  workers(): Promise<readonly WorkerView[]>;
  /** Counts what waits, runs and is parked, by agent. */
  queue(): Promise<QueueView>;
  /** Parked sessions, the last changed first. */
  parked(options?: ParkedOptions): Promise<ParkedPage>;
  /** Continues parked sessions with all counts at 0, whatever their owner. `by` is kept with each. */
  retry(
    sessionIds: readonly string[],
    options?: { readonly by?: string },
  ): Promise<RetriedSessions>;
}

/** Rows carry the head of their state, so few are read at a time. */
const ROWS_AT_ONCE = 50;
const MOST_CHARACTERS = 1_000;

/** Makes the view of an operator on the store of a runtime, across all owners. It checks no rights: do that before. */
export function sessionOperator(runtime: AnySessionRuntime): SessionOperator {
  const { lookup } = feedsOf(runtime);
  const { store } = lookup;
  return {
    async workers() {
      return (await store.workload()).workers.map(workerView);
    },
    async queue() {
      return queueView(await store.workload(), runtime.clock.now());
    },
    parked: (options = {}) => parkedPage(lookup, options),
    async retry(sessionIds, { by = 'operator' } = {}) {
      checkedActor(by);
      const retried: string[] = [];
      const skipped: string[] = [];
      for (const id of new Set(sessionIds))
        ((await retryOne(runtime, lookup, id, by)) ? retried : skipped).push(id);
      return { retried, skipped };
    },
  };
}

async function parkedPage(lookup: SessionLookup, options: ParkedOptions): Promise<ParkedPage> {
  const { owner, agent, cursor } = options;
  const limit = checkedLimit(options.limit, 200);
  const filter = {
    phase: 'parked',
    ...(owner !== undefined && { owner: checkedOwner(owner) }),
    ...(agent !== undefined && { agent }),
  } as const;
  const sessions: ParkedSession[] = [];
  let last = cursor === undefined ? null : placeOf(cursor);
  for (;;) {
    const wanted = Math.min(ROWS_AT_ONCE, limit - sessions.length);
    // one more shows whether there is more
    const rows = await lookup.store.list({
      ...filter,
      limit: wanted + 1,
      ...(last && { after: last }),
    });
    for (const row of rows.slice(0, wanted)) {
      sessions.push(parkedSession(lookup, row));
      last = { updatedAt: row.updatedAt, id: row.id };
    }
    if (rows.length <= wanted) return { sessions, cursor: null };
    if (sessions.length >= limit) return { sessions, cursor: cursorOf(last) };
  }
}

function parkedSession(lookup: SessionLookup, row: SessionRow): ParkedSession {
  const { id, owner, agent, error, tries, deaths, parkedAt, updatedAt } = row;
  const text = error === null ? null : lookup.redactorOf(row).text(error);
  return {
    id,
    owner,
    agent,
    error:
      text !== null && text.length > MOST_CHARACTERS
        ? `${text.slice(0, MOST_CHARACTERS - 1)}…`
        : text,
    tries,
    deaths,
    parkedAt: parkedAt ?? updatedAt,
    lastRetry: lastRetryOf(row),
  };
}

/** False where it is not parked, or was deleted meanwhile. */
async function retryOne(
  runtime: AnySessionRuntime,
  { store }: SessionLookup,
  id: string,
  by: string,
): Promise<boolean> {
  const row = isSessionId(id) ? await store.find(id) : null;
  if (row?.phase !== 'parked') return false;
  try {
    await runtime.retry(id, { owner: row.owner, by });
    return true;
  } catch (error) {
    if (AgentError.is(error, 'session_not_found')) return false;
    throw error;
  }
}
