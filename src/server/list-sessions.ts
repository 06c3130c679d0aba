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

/** Reads for one answer; behind that the page is short, and its cursor leads on. */
const MOST_READS = 10;

/** By the status of the wire, of which the store knows only a part. */
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
  for (let reads = 0; reads < MOST_READS; reads += 1) {
    const place = { limit: limit - found.length, ...(cursor !== null && { cursor }) };
    const page: SessionPage =
      search === undefined
        ? await runtime.list({ ...filter, ...place })
        : await searchSessions(runtime, { ...filter, ...place, search });
    found.push(...page.sessions.filter((one) => !status || wireStatus(one) === status));
    ({ cursor } = page);
    // a search has looked as long as one answer may take
    if (cursor === null || found.length >= limit || search !== undefined) break;
  }
  return { sessions: found, cursor };
}
