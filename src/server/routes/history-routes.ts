import { readRef } from '../../broadcasting/envelope-ref.ts';
import { readRefill } from '../../broadcasting/refill.ts';
import { parsePlace } from '../../broadcasting/sse/sse-frame.ts';
import type { BroadcastSettings } from '../../broadcasting/broadcast-config.ts';
import type { GrantCapOptions } from '../../sessions/session-options.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { readTrace } from '../../trace/index.ts';
import { readUiMessages, type MessagesQuery } from '../read-messages.ts';
import { route, type Route } from '../route.ts';
import { ref } from '../schemas/shapes.ts';
import { place, required, wholeNumber, word } from './field-shapes.ts';

interface TraceQuery extends MessagesQuery {
  readonly execution?: string;
}

/** What was said, done and decided. */
export const historyRoutes = (
  runtime: SessionRuntime,
  caps: GrantCapOptions,
  config: BroadcastSettings,
): readonly Route[] => [
  route<MessagesQuery>({
    method: 'GET',
    path: '/sessions/{id}/messages',
    name: 'readMessages',
    summary: 'The conversation as a screen shows it, newest page first.',
    query: { before: place, limit: wholeNumber(1, 500) },
    answer: { status: 200, about: 'A page, oldest message first.', schema: ref('MessagePage') },
    handle: ({ owner, id, query }) =>
      readUiMessages(runtime, id, { owner, includeReasoning: config.includeReasoning, ...query }),
  }),
  route<{ readonly after?: string }>({
    method: 'GET',
    path: '/sessions/{id}/log',
    name: 'readLog',
    summary: 'The envelopes after a place: for clients that see a gap.',
    query: {
      after: {
        schema: { type: 'string', pattern: '^\\d{1,15}(?:@.{1,1000})?$' },
        expected: 'a place such as 12@execution; left out: the newest run from its beginning',
      },
    },
    answer: { status: 200, about: 'What a client has missed.', schema: ref('Refill') },
    handle({ owner, id, query }) {
      const { after = 0, executionId = null } = parsePlace(query.after ?? '0') ?? {};
      return readRefill(runtime, id, {
        owner,
        config,
        after,
        ...(executionId !== null && { executionId }),
      });
    },
  }),
  route<{ readonly ref: string }>({
    method: 'GET',
    path: '/sessions/{id}/refs',
    name: 'readRef',
    summary: 'The whole of a value of which an envelope has only the beginning.',
    query: { ref: required(word('the ref of an envelope as it came', 300)) },
    answer: { status: 200, about: 'The value.', schema: ref('RefValue') },
    handle: async ({ owner, id, query }) => ({
      ref: query.ref,
      value: await readRef(runtime, id, query.ref, { owner }),
    }),
  }),
  route<TraceQuery>({
    method: 'GET',
    path: '/sessions/{id}/trace',
    name: 'readTrace',
    summary: 'What happened in a run and why, step by step.',
    query: {
      execution: word('the id of a run; left out: the newest'),
      before: place,
      limit: wholeNumber(1, 500),
    },
    answer: { status: 200, about: 'The trace.', schema: ref('Trace') },
    handle: ({ owner, id, query: { execution, ...page } }) =>
      readTrace(runtime, id, {
        owner,
        ...caps,
        ...page,
        ...(execution !== undefined && { executionId: execution }),
      }),
  }),
];
