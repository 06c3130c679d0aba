import { ownedSessions, pusherAuth } from '../../broadcasting/pusher/pusher-auth.ts';
import type { SseEndpoint } from '../../broadcasting/sse/sse-endpoint.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import type { OpenStreams } from '../open-streams.ts';
import { route, type Route } from '../route.ts';
import { object, text } from '../schemas/shapes.ts';
import { required, word } from './field-shapes.ts';

const placeInLog = {
  schema: { type: 'string' },
  expected: 'the id of the last event that was seen, such as 12@execution',
} as const;

/** `endpoint` asks who a request comes from, and knows it by then. */
export const eventRoute = (endpoint: SseEndpoint, streams: OpenStreams): Route =>
  route<{ readonly after?: string }>({
    method: 'GET',
    path: '/sessions/{id}/events',
    name: 'streamEvents',
    summary: 'Live updates as server-sent events, after what the client has seen.',
    query: { after: placeInLog },
    headers: { 'last-event-id': placeInLog },
    answer: {
      status: 200,
      about: 'Envelopes, one per event; it stays open.',
      schema: text,
      contentType: 'text/event-stream',
    },
    handle: ({ request, owner, id }) => streams.open(request, owner, () => endpoint(request, id)),
  });

/** `ownerOf` knows who a request comes from that has been let in. */
export function pusherRoute(
  runtime: SessionRuntime,
  app: { readonly key: string; readonly secret: string },
  ownerOf: (request: Request) => string | null,
  report: (error: unknown, request: Request) => void,
): Route {
  const mayHear = ownedSessions(runtime, ownerOf);
  const authorise = pusherAuth({
    ...app,
    async authorize(request, channel) {
      try {
        return await mayHear(request, channel);
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
    summary: 'Lets a client of Pusher or Reverb hear one of your sessions.',
    body: {
      socket_id: required(word('two numbers joined by a dot')),
      channel_name: required(word('private-agent.{session} or presence-agent.{session}')),
    },
    bodyTypes: ['application/x-www-form-urlencoded'],
    answer: {
      status: 200,
      about: 'As the protocol of Pusher wants it.',
      schema: object({ auth: text }, { channel_data: text }),
    },
    handle: ({ request }) => authorise(request),
  });
}
