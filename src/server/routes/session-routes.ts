import { broadcastStatuses } from '../../agent/broadcast-status.ts';
import type { JsonObject } from '../../json.ts';
import type { MessageContent } from '../../messages/content-part.ts';
import { beginOf } from '../../sessions/begins-of.ts';
import type { GrantCapOptions } from '../../sessions/session-options.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import type { Session } from '../../sessions/session.ts';
import { listSessions, type ListQuery } from '../list-sessions.ts';
import { route, type Route, type RouteAnswer } from '../route.ts';
import { phaseNames } from '../schemas/session-schemas.ts';
import { ref } from '../schemas/shapes.ts';
import { detailOf, summaryOf, wireStatus } from '../session-views.ts';
import { sessionOrders } from '../../sessions/session-query.ts';
import type { FieldsOf } from '../fields.ts';
import {
  amount,
  jsonRecord,
  messageContent,
  newSessionId,
  oneOf,
  required,
  someOf,
  timeText,
  wholeNumber,
  word,
} from './field-shapes.ts';

interface NewSession {
  readonly agent?: string;
  readonly id?: string;
  readonly metadata?: JsonObject;
  readonly message?: MessageContent;
}

interface NewMessage {
  readonly content: MessageContent;
  readonly whenBusy?: 'refuse' | 'queue';
  readonly executionId?: string;
}

const detail = (status: RouteAnswer['status'], about: string): RouteAnswer => ({
  status,
  about,
  schema: ref('SessionDetail'),
});

/** Query of a list of sessions. */
export const listFields: FieldsOf<ListQuery> = {
  status: oneOf(...broadcastStatuses),
  statuses: someOf(...broadcastStatuses),
  phase: oneOf(...phaseNames),
  agent: word('the name of an agent'),
  agents: word('names of agents, separated by commas', 1_000),
  models: word('ids of models, separated by commas', 1_000),
  updatedFrom: timeText,
  updatedBefore: timeText,
  costFrom: amount,
  costBefore: amount,
  hasError: oneOf('true', 'false'),
  attention: oneOf('true', 'false'),
  by: oneOf(...sessionOrders),
  order: oneOf('asc', 'desc'),
  search: word('words to search for, up to 200 characters'),
  total: oneOf('true'),
  limit: wholeNumber(1, 200),
  cursor: word('the cursor of the previous page', 1_000),
};

/** Creates the routes of sessions and messages. */
export const sessionRoutes = (runtime: SessionRuntime, caps: GrantCapOptions): readonly Route[] => [
  route<ListQuery>({
    method: 'GET',
    path: '/sessions',
    name: 'listSessions',
    summary: 'Lists your sessions, newest change first.',
    query: listFields,
    answer: { status: 200, about: 'A page of sessions.', schema: ref('SessionPage') },
    async handle({ owner, query }) {
      const { sessions, ...page } = await listSessions(runtime, owner, query);
      return { ...page, sessions: sessions.map(summaryOf) };
    },
  }),
  route<object, NewSession>({
    method: 'POST',
    path: '/sessions',
    name: 'createSession',
    takesFiles: true,
    summary: 'Creates a session, and sends a message if there is one.',
    body: {
      agent: word('the name of an agent; required if there are several'),
      id: newSessionId,
      metadata: jsonRecord('an object to store with the session'),
      message: messageContent,
    },
    answer: detail(201, 'The new session.'),
    async handle({ owner, body: { message, ...options } }) {
      if (message !== undefined)
        return detailOf(await beginOf(runtime)(message, { owner, ...options }));
      const session = await runtime.create({ owner, ...options });
      return detailOf(await session.get());
    },
  }),
  route({
    method: 'GET',
    path: '/sessions/{id}',
    name: 'getSession',
    summary: 'Returns a session with its last outcome.',
    answer: detail(200, 'The session.'),
    handle: async ({ owner, id }) => detailOf(await runtime.get(id, { owner, ...caps })),
  }),
  route({
    method: 'DELETE',
    path: '/sessions/{id}',
    name: 'deleteSession',
    summary: 'Deletes a session and all its data, and ends its run.',
    answer: { status: 204, about: 'Deleted.', schema: null },
    handle: ({ owner, id }) => runtime.delete(id, { owner }),
  }),
  route<object, NewMessage>({
    method: 'POST',
    path: '/sessions/{id}/messages',
    name: 'sendMessage',
    takesFiles: true,
    summary: 'Sends a message to the agent. The events report the progress.',
    body: {
      content: required(messageContent),
      whenBusy: oneOf('refuse', 'queue'),
      executionId: {
        schema: { type: 'string', pattern: '^[A-Za-z0-9_\\-=@,.;:~]{1,200}$' },
        expected: 'your id for the run, of up to 200 letters, digits and _-=@,.;:~',
      },
    },
    answer: {
      status: 202,
      about: 'The message was accepted, now or before.',
      schema: ref('Accepted'),
    },
    async handle({ owner, id, body: { content, ...options } }) {
      const session: Session = await runtime.send(id, content, { owner, ...options });
      const { executionId } = session;
      return { sessionId: id, executionId, status: wireStatus(session) };
    },
  }),
];
