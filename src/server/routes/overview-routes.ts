import { attentionCounts, sessionOverview } from '../../sessions/session-overview.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { bulkActions, bulkSessions, type BulkAction } from '../bulk-sessions.ts';
import { rangesAt, rangeNames, type RangeName } from '../overview-ranges.ts';
import type { Overview } from '../api.ts';
import type { FieldsOf } from '../fields.ts';
import { route, type Route } from '../route.ts';
import { ref } from '../schemas/shapes.ts';
import { bulkIds, oneOf, required, wholeNumber } from './field-shapes.ts';

export interface OverviewQuery {
  readonly range?: RangeName;
  readonly utcOffset?: number;
}

export interface BulkBody {
  readonly action: BulkAction;
  readonly ids: readonly string[];
}

export const overviewQuery: FieldsOf<OverviewQuery> = {
  range: oneOf(...rangeNames),
  utcOffset: wholeNumber(-900, 900),
};
export const bulkBody: FieldsOf<BulkBody> = {
  action: required(oneOf(...bulkActions)),
  ids: required(bulkIds),
};

/** Returns the overview of an owner, or of all owners. */
export async function overviewOf(
  runtime: SessionRuntime,
  owner: string | undefined,
  { range = '12h', utcOffset = 0 }: OverviewQuery,
): Promise<Overview> {
  const ranges = rangesAt(runtime.clock.now(), range, utcOffset);
  const of = owner === undefined ? {} : { owner };
  const [attention, overview] = await Promise.all([
    attentionCounts(runtime, owner),
    sessionOverview(runtime, { ...of, ...ranges }),
  ]);
  return { attention, ...overview };
}

/** Creates the routes for all sessions of an owner together. */
export const overviewRoutes = (runtime: SessionRuntime): readonly Route[] => [
  route({
    method: 'GET',
    path: '/attention',
    name: 'countAttention',
    summary: 'Counts your sessions that need a person, up to 100 of each kind.',
    answer: { status: 200, about: 'The counts.', schema: ref('AttentionCounts') },
    handle: ({ owner }) => attentionCounts(runtime, owner),
  }),
  route<OverviewQuery>({
    method: 'GET',
    path: '/overview',
    name: 'readOverview',
    summary: 'Summarizes your runs by outcome, cost, step time and tool errors.',
    query: overviewQuery,
    answer: { status: 200, about: 'The statistics.', schema: ref('Overview') },
    handle: ({ owner, query }) => overviewOf(runtime, owner, query),
  }),
  route<object, BulkBody>({
    method: 'POST',
    path: '/bulk',
    name: 'changeSessions',
    summary: 'Stops, retries or deletes several of your sessions, one after another.',
    body: bulkBody,
    answer: {
      status: 200,
      about: 'The ids for which it was done, and the others with the reason.',
      schema: ref('BulkResult'),
    },
    handle: ({ owner, body: { action, ids } }) =>
      bulkSessions(runtime, action, ids, () => owner, owner),
  }),
];
