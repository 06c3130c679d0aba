import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { SessionPhase } from '../sessions/session-rows.ts';
import type { Session, SessionPage } from '../sessions/session.ts';
import { searchSessions } from '../trace/index.ts';
import { storedStatus, wireStatus } from './session-views.ts';

export interface ListQuery {
  readonly status?: BroadcastStatus;
  readonly phase?: SessionPhase;
  readonly agent?: string;
  readonly search?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

/** Maximum reads for one response; beyond that, the page is short and its cursor continues. */
const MAX_READS = 10;

/** Filters by the status of the wire, which the store knows only in part. */
export async function listSessions(
  runtime: SessionRuntime,
  owner: string,
  query: ListQuery,
): Promise<SessionPage> {
  const { status, search, limit = 50, cursor: start, agent, phase } = query;
  const filter = {
    owner,
    ...(status && { status: storedStatus[status] }),
    ...(phase !== undefined && { phase }),
    ...(agent !== undefined && { agent }),
  };
  const found: Session[] = [];
  let cursor: string | null = start ?? null;
  for (let reads = 0; reads < MAX_READS; reads += 1) {
    const range = { limit: limit - found.length, ...(cursor !== null && { cursor }) };
    const page: SessionPage =
      search === undefined
        ? await runtime.list({ ...filter, ...range })
        : await searchSessions(runtime, { ...filter, ...range, search });
    found.push(...page.sessions.filter((one) => !status || wireStatus(one) === status));
    ({ cursor } = page);
    // the search has reached the maximum time of one response
    if (cursor === null || found.length >= limit || search !== undefined) break;
  }
  return { sessions: found, cursor };
}
