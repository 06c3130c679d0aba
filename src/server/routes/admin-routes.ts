import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { sessionOperator, type ParkedOptions } from '../../sessions/session-operator.ts';
import { isSessionId } from '../../sessions/check-names.ts';
import { feedsOf } from '../../sessions/feed/feeds-of.ts';
import { attentionCounts } from '../../sessions/session-overview.ts';
import { bulkSessions } from '../bulk-sessions.ts';
import { listSessions, type ListQuery } from '../list-sessions.ts';
import { operatorSummaryOf } from '../session-views.ts';
import {
  bulkBody,
  overviewOf,
  overviewQuery,
  type BulkBody,
  type OverviewQuery,
} from './overview-routes.ts';
import { listFields } from './session-routes.ts';
import { route, type Route } from '../route.ts';
import { ref } from '../schemas/shapes.ts';
import { required, sessionIds, wholeNumber, word } from './field-shapes.ts';

/** Without a search, which would show whether a conversation has a word. */
const { search: _search, ...operatorFields } = listFields;

/** Creates the routes of operators, over the work of all owners. */
export const adminRoutes = (runtime: SessionRuntime): readonly Route[] => [
  route({
    method: 'GET',
    path: '/admin/workers',
    name: 'listWorkers',
    summary: 'Lists the workers with their agents and leases.',
    isAdmin: true,
    answer: { status: 200, about: 'The workers.', schema: ref('WorkerList') },
    handle: async () => ({ workers: await sessionOperator(runtime).workers() }),
  }),
  route({
    method: 'GET',
    path: '/admin/queue',
    name: 'readQueue',
    summary: 'Counts the sessions that wait, run and are parked, by agent.',
    isAdmin: true,
    answer: { status: 200, about: 'The counts.', schema: ref('Queue') },
    handle: () => sessionOperator(runtime).queue(),
  }),
  route<ParkedOptions>({
    method: 'GET',
    path: '/admin/parked',
    name: 'listParked',
    summary: 'Lists parked sessions of all owners with their errors, the last changed first.',
    isAdmin: true,
    query: {
      owner: word('an owner'),
      agent: word('the name of an agent'),
      limit: wholeNumber(1, 200),
      cursor: word('the cursor of the previous page', 1_000),
    },
    answer: { status: 200, about: 'A page of parked sessions.', schema: ref('ParkedPage') },
    handle: ({ query }) => sessionOperator(runtime).parked(query),
  }),
  route<Omit<ListQuery, 'search'> & { readonly owner?: string }>({
    method: 'GET',
    path: '/admin/sessions',
    name: 'listAllSessions',
    summary: 'Lists sessions of all owners, without titles and without a search in conversations.',
    isAdmin: true,
    query: { ...operatorFields, owner: word('an owner') },
    answer: { status: 200, about: 'A page of sessions.', schema: ref('OperatorPage') },
    async handle({ query: { owner, ...query } }) {
      const { sessions, cursor, total } = await listSessions(runtime, owner, query);
      return { sessions: sessions.map(operatorSummaryOf), cursor, total };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/attention',
    name: 'countAllAttention',
    summary: 'Counts the sessions of all owners that need a person, up to 100 of each kind.',
    isAdmin: true,
    answer: { status: 200, about: 'The counts.', schema: ref('AttentionCounts') },
    handle: () => attentionCounts(runtime),
  }),
  route<OverviewQuery>({
    method: 'GET',
    path: '/admin/overview',
    name: 'readWholeOverview',
    summary: 'Summarizes the runs of all owners by outcome, cost, step time and tool errors.',
    isAdmin: true,
    query: overviewQuery,
    answer: { status: 200, about: 'The statistics.', schema: ref('Overview') },
    handle: ({ query }) => overviewOf(runtime, undefined, query),
  }),
  route<object, BulkBody>({
    method: 'POST',
    path: '/admin/bulk',
    name: 'changeAllSessions',
    summary: 'Stops, retries or deletes several sessions of any owners, one after another.',
    isAdmin: true,
    body: bulkBody,
    answer: {
      status: 200,
      about: 'The ids for which it was done, and the others with the reason.',
      schema: ref('BulkResult'),
    },
    async handle({ by, body: { action, ids } }) {
      const { store } = feedsOf(runtime).lookup;
      const ownerOf = async (id: string): Promise<string | null> =>
        isSessionId(id) ? ((await store.find(id))?.owner ?? null) : null;
      return bulkSessions(runtime, action, ids, ownerOf, by);
    },
  }),
  route<object, { readonly ids: readonly string[] }>({
    method: 'POST',
    path: '/admin/parked/retry',
    name: 'retryParked',
    summary: 'Continues parked sessions with all counts at 0; any other does not change.',
    isAdmin: true,
    body: { ids: required(sessionIds) },
    answer: {
      status: 202,
      about: 'Accepted; returns the ids that were parked, and the others.',
      schema: ref('RetriedSessions'),
    },
    handle: async ({ by, body }) => ({
      ...(await sessionOperator(runtime).retry(body.ids, { by })),
      by,
    }),
  }),
];
