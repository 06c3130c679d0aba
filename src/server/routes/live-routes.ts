import { ownedSessions, pusherAuth } from '../../broadcasting/pusher/pusher-auth.ts';
import type { SseEndpoint } from '../../broadcasting/sse/sse-endpoint.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import type { OpenStreams } from '../open-streams.ts';
import { route, type Route } from '../route.ts';
import { object, text } from '../schemas/shapes.ts';
import { required, word } from './field-shapes.ts';

const logPosition = {
  schema: { type: 'string' },
  expected: 'the id of the last received event, such as 12@execution',
} as const;

/** Creates the route of live updates. The owner of a request is already known when `endpoint` asks for it. */
export const eventRoute = (endpoint: SseEndpoint, streams: OpenStreams): Route =>
  route<{ readonly after?: string }>({
    method: 'GET',
    path: '/sessions/{id}/events',
    name: 'streamEvents',
    summary: "Streams live updates as server-sent events, after the client's position.",
    query: { after: logPosition },
    headers: { 'last-event-id': logPosition },
    answer: {
      status: 200,
      about: 'Envelopes, one per event. The stream stays open.',
      schema: text,
      contentType: 'text/event-stream',
    },
    handle: ({ request, owner, id }) => streams.open(request, owner, () => endpoint(request, id)),
  });

/** Creates the route of Pusher authorization. `ownerOf` returns the owner of an admitted request. */
export function pusherRoute(
  runtime: SessionRuntime,
  app: { readonly key: string; readonly secret: string },
  ownerOf: (request: Request) => string | null,
  report: (error: unknown, request: Request) => void,
): Route {
  const mayRead = ownedSessions(runtime, ownerOf);
  const authorize = pusherAuth({
    ...app,
    async authorize(request, channel) {
      try {
        return await mayRead(request, channel);
      } catch (error) {
        report(error, request);
        throw error;
      }
    },
    // reported above, with its request
    onError: () => {},
  });
  return route<object, { readonly socket_id: string; readonly channel_name: string }>({
    method: 'POST',
    path: '/pusher/auth',
    name: 'authorisePusher',
    summary: 'Authorizes a Pusher or Reverb client for one of your sessions.',
    body: {
      socket_id: required(word('two numbers joined by a dot')),
      channel_name: required(word('private-agent.{session} or presence-agent.{session}')),
    },
    bodyTypes: ['application/x-www-form-urlencoded'],
    answer: {
      status: 200,
      about: 'The response of the Pusher protocol.',
      schema: object({ auth: text }, { channel_data: text }),
    },
    handle: ({ request }) => authorize(request),
  });
}
