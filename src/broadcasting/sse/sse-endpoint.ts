import { feedsOf } from '../../sessions/feed/feeds-of.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { BroadcastConfig, type BroadcastSettings } from '../broadcast-config.ts';
import { parsePosition, type SsePlace } from './sse-frame.ts';
import { sseHub, type SseHub } from './sse-hub.ts';
import { answer, sessionIdOf, type OwnerHook } from './sse-request.ts';

export interface SseEndpointOptions {
  readonly runtime: SessionRuntime;
  /** Returns the user: an id, null for a request that is not signed in (401), or your own response. */
  readonly owner: OwnerHook;
  /** Which envelopes are sent. Default: `BroadcastConfig.standard()`. */
  readonly config?: BroadcastSettings;
  /** Hub with your own options. Default: a new one. */
  readonly hub?: SseHub;
  /** Events per read of the log, for a client that was away. Default 200. */
  readonly pageSize?: number;
  /** Headers to add to the response, for example `access-control-allow-origin`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers a request for the live updates of a session. Default of `sessionId`: `session_id` in the query. */
export interface SseEndpoint {
  (request: Request, sessionId?: string): Promise<Response>;
  readonly hub: SseHub;
  /** Ends all streams. Runs continue. */
  close(): Promise<void>;
}

/** Headers that keep proxies from caching, compressing or buffering the stream. */
const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** Answers a request with the live events of a session, starting where the client stopped. */
export function sseEndpoint(options: SseEndpointOptions): SseEndpoint {
  const { runtime, owner, pageSize = 200 } = options;
  const config = options.config ?? BroadcastConfig.standard();
  const hub = options.hub ?? sseHub();
  // stream answers even if no client reads them: one may join later
  const unlisten = runtime.wiretap(() => {});
  const headers = { ...streamHeaders, ...options.headers };
  // in Node a request that was collected passes no abort on to its signal: it stays with its stream
  const requests = new WeakMap<ReadableStream, Request>();

  const respond = (request: Request, given?: string): Promise<Response> =>
    answer(request, owner, async (ownerId) => {
      const sessionId = sessionIdOf(request, given);
      await feedsOf(runtime).lookup.owned(sessionId, ownerId);
      const body = await hub.open(sessionId, {
        feed: { runtime, owner: ownerId, config, pageSize, place: positionOf(request) },
        signal: request.signal,
      });
      requests.set(body, request);
      return new Response(body, { headers });
    });
  return Object.assign(respond, {
    hub,
    async close(): Promise<void> {
      hub.close();
      unlisten();
    },
  });
}

/** Reads the position from the header that a browser sends when it reconnects, or from the URL. */
function positionOf(request: Request): SsePlace | 'lost' | null {
  const { searchParams } = new URL(request.url);
  const text =
    request.headers.get('last-event-id') ||
    searchParams.get('last_event_id') ||
    searchParams.get('after');
  return text ? (parsePosition(text) ?? 'lost') : null;
}
