import type { BroadcastStatus } from '../agent/agent-status.ts';
import { feedsOf } from '../sessions/feed/feeds-of.ts';
import type { AllSessionsOptions } from '../sessions/list-query.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { SessionPhase } from '../sessions/session-rows.ts';
import type { SessionOrder } from '../sessions/session-query.ts';
import type { Session } from '../sessions/session.ts';
import { searchIn, type SessionMatch } from '../trace/search-sessions.ts';
import { storedStatus, wireStatus } from './session-views.ts';

/** Query of a list, as texts. Lists are separated by commas. */
export interface ListQuery {
  readonly status?: BroadcastStatus;
  readonly statuses?: string;
  readonly phase?: SessionPhase;
  readonly agent?: string;
  readonly agents?: string;
  readonly models?: string;
  readonly updatedFrom?: string;
  readonly updatedBefore?: string;
  readonly costFrom?: string;
  readonly costBefore?: string;
  readonly hasError?: 'true' | 'false';
  readonly attention?: 'true' | 'false';
  readonly by?: SessionOrder;
  readonly order?: 'asc' | 'desc';
  readonly search?: string;
  readonly total?: 'true';
  readonly limit?: number;
  readonly cursor?: string;
}

export interface ListedSessions {
  readonly sessions: readonly Session[];
  readonly matches: Readonly<Record<string, SessionMatch>>;
  readonly cursor: string | null;
  /** Number of sessions that match, up to {@link MOST_COUNTED}; null if it was not asked for, or is not known. */
  readonly total: number | null;
}

/** Maximum reads for one response; beyond that, the page is short and its cursor continues. */
const MAX_READS = 10;
const MOST_COUNTED = 1_000;

/** Lists sessions of an owner; of all owners without one. */
export async function listSessions(
  runtime: SessionRuntime,
  owner: string | undefined,
  query: ListQuery,
): Promise<ListedSessions> {
  const { lookup } = feedsOf(runtime);
  const { search, limit = 50, cursor: start } = query;
  const wanted = statusesIn(query);
  const filter = { ...filterOf(query, wanted), ...(owner !== undefined && { owner }) };
  const isExact = wanted.every((status) => isWholly(status, wanted));
  const found: Session[] = [];
  const matches: Record<string, SessionMatch> = {};
  let cursor: string | null = start ?? null;
  for (let reads = 0; reads < MAX_READS; reads += 1) {
    const range = { limit: limit - found.length, ...(cursor !== null && { cursor }) };
    const page =
      search === undefined
        ? { matches: {}, ...(await lookup.list({ ...filter, ...range })) }
        : await searchIn(runtime, (page) => lookup.list(page), { ...filter, ...range, search });
    found.push(...page.sessions.filter((one) => isExact || wanted.includes(wireStatus(one))));
    Object.assign(matches, page.matches);
    ({ cursor } = page);
    // the search has reached the maximum time of one response
    if (cursor === null || found.length >= limit || search !== undefined) break;
  }
  const total =
    query.total === 'true' && search === undefined && isExact
      ? await lookup.count(filter, MOST_COUNTED)
      : null;
  return { sessions: found, matches, cursor, total };
}

const listed = (text: string | undefined): readonly string[] =>
  text === undefined ? [] : text.split(',').filter(Boolean);

const statusesIn = ({ status, statuses }: ListQuery): readonly BroadcastStatus[] =>
  [...new Set([...(status ? [status] : []), ...listed(statuses)])] as readonly BroadcastStatus[];

/** Whether the store knows the status, or every status that it is the same as for the store. */
const isWholly = (status: BroadcastStatus, wanted: readonly BroadcastStatus[]): boolean =>
  (Object.keys(storedStatus) as BroadcastStatus[]).every(
    (other) => storedStatus[other] !== storedStatus[status] || wanted.includes(other),
  );

function filterOf(
  query: ListQuery,
  wanted: readonly BroadcastStatus[],
): Omit<AllSessionsOptions, 'limit' | 'cursor'> {
  const { phase, agent, updatedFrom, updatedBefore, by } = query;
  const [agents, models] = [listed(query.agents), listed(query.models)];
  return {
    ...(wanted.length > 0 && {
      statuses: [...new Set(wanted.map((status) => storedStatus[status]))],
    }),
    ...(phase !== undefined && { phase }),
    ...(agent !== undefined && { agent }),
    ...(agents.length > 0 && { agents }),
    ...(models.length > 0 && { models }),
    ...(updatedFrom !== undefined && { updatedFrom: isoText(updatedFrom) }),
    ...(updatedBefore !== undefined && { updatedBefore: isoText(updatedBefore) }),
    ...(query.costFrom !== undefined && { costFrom: Number(query.costFrom) }),
    ...(query.costBefore !== undefined && { costBefore: Number(query.costBefore) }),
    ...(query.hasError !== undefined && { hasError: query.hasError === 'true' }),
    ...(query.attention !== undefined && { needsAttention: query.attention === 'true' }),
    ...(by !== undefined && { by }),
    ...(query.order === 'asc' && { isAscending: true }),
  };
}

/** Stores compare times as texts. */
const isoText = (time: string): string => new Date(time).toISOString();
