import { readRef } from '../../broadcasting/envelope-ref.ts';
import { readRefill } from '../../broadcasting/refill.ts';
import { parsePosition } from '../../broadcasting/sse/sse-frame.ts';
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
  readonly call?: string;
  readonly step?: number;
}

/** Creates the routes of messages, log and trace. */
export const historyRoutes = (
  runtime: SessionRuntime,
  caps: GrantCapOptions,
  config: BroadcastSettings,
): readonly Route[] => [
  route<MessagesQuery>({
    method: 'GET',
    path: '/sessions/{id}/messages',
    name: 'readMessages',
    summary: 'Returns the conversation as UI messages, newest page first.',
    query: { before: place, limit: wholeNumber(1, 500) },
    answer: { status: 200, about: 'A page, oldest message first.', schema: ref('MessagePage') },
    handle: ({ owner, id, query }) =>
      readUiMessages(runtime, id, { owner, includeReasoning: config.includeReasoning, ...query }),
  }),
  route<MessagesQuery>({
    method: 'GET',
    path: '/sessions/{id}/compactions',
    name: 'readCompactions',
    summary: 'Returns what the model is no longer sent, newest page first.',
    query: { before: place, limit: wholeNumber(1, 500) },
    answer: {
      status: 200,
      about: 'A page, oldest compaction first.',
      schema: ref('CompactionPage'),
    },
    async handle({ owner, id, query }) {
      const { items, before } = await runtime.compactions(id, { owner, ...query });
      return { compactions: items, before };
    },
  }),
  route<{ readonly after?: string }>({
    method: 'GET',
    path: '/sessions/{id}/log',
    name: 'readLog',
    summary: 'Returns the envelopes after a position, for clients that detect a gap.',
    query: {
      after: {
        schema: { type: 'string', pattern: '^\\d{1,15}(?:@.{1,1000})?$' },
        expected: 'a position such as 12@execution; default: the beginning of the newest run',
      },
    },
    answer: { status: 200, about: 'The missed envelopes.', schema: ref('Refill') },
    handle({ owner, id, query }) {
      const { after = 0, executionId = null } = parsePosition(query.after ?? '0') ?? {};
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
    summary: 'Returns the whole value of a truncated field.',
    query: { ref: required(word('the unchanged ref of an envelope', 300)) },
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
    summary: 'Explains a run, or an agent behind one of its calls, step by step.',
    query: {
      execution: word('the id of a run; default: the newest'),
      call: word('the id of a call that runs an agent, at any depth', 300),
      step: wholeNumber(1, 1_000_000_000),
      before: place,
      limit: wholeNumber(1, 500),
    },
    answer: { status: 200, about: 'The trace.', schema: ref('Trace') },
    handle: ({ owner, id, query: { execution, call: callId, step, ...page } }) =>
      readTrace(runtime, id, {
        owner,
        ...caps,
        ...page,
        ...(execution !== undefined && { executionId: execution }),
        ...(callId !== undefined && { call: { callId, ...(step !== undefined && { step }) } }),
      }),
  }),
];
