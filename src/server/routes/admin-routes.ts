import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { sessionOperator, type ParkedOptions } from '../../sessions/session-operator.ts';
import { route, type Route } from '../route.ts';
import { ref } from '../schemas/shapes.ts';
import { required, sessionIds, wholeNumber, word } from './field-shapes.ts';

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
