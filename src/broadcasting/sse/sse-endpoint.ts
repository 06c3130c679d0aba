import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { BroadcastConfig, type BroadcastSettings } from '../broadcast-config.ts';
import { parsePlace, type SsePlace } from './sse-frame.ts';
import { sseHub, type SseHub } from './sse-hub.ts';
import { answer, sessionIdOf, type OwnerHook } from './sse-request.ts';

export interface SseEndpointOptions {
  readonly runtime: SessionRuntime;
  /** Who asks: an id, null for a request without a user (401), or your own response. */
  readonly owner: OwnerHook;
  /** Which envelopes are sent. Default: `BroadcastConfig.standard()`. */
  readonly config?: BroadcastSettings;
  /** One with options of your own. Default: a new one. */
  readonly hub?: SseHub;
  /** Events of the log that are read at once for a client that was away. Default 200. */
  readonly pageSize?: number;
  /** Sent along, for example `access-control-allow-origin`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers a request for the live updates of a session; its id is given, or `session_id` in the query. */
export interface SseEndpoint {
  (request: Request, sessionId?: string): Promise<Response>;
  readonly hub: SseHub;
  /** Ends all streams. Runs continue: a closed stream is not a stop. */
  close(): Promise<void>;
}

/** What proxies must not keep, pack or hold back. */
const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** Answers a request with the live events of a session, from where the client left off. */
export function sseEndpoint(options: SseEndpointOptions): SseEndpoint {
  const { runtime, owner, pageSize = 200 } = options;
  const config = options.config ?? BroadcastConfig.standard();
  const hub = options.hub ?? sseHub();
  // answers are streamed whether or not a client reads them: one may join in the middle
  const unlisten = runtime.wiretap(() => {});
  const headers = { ...streamHeaders, ...options.headers };

  const respond = (request: Request, given?: string): Promise<Response> =>
    answer(request, owner, async (ownerId) => {
      const sessionId = sessionIdOf(request, given);
      await runtime.get(sessionId, { owner: ownerId });
      const body = await hub.open(sessionId, {
        feed: { runtime, owner: ownerId, config, pageSize, place: placeOf(request) },
        signal: request.signal,
      });
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

/** A browser sends the header when it reconnects; a client that opens a new stream can put it in the URL. */
function placeOf(request: Request): SsePlace | 'lost' | null {
  const { searchParams } = new URL(request.url);
  const text =
    request.headers.get('last-event-id') ||
    searchParams.get('last_event_id') ||
    searchParams.get('after');
  return text ? (parsePlace(text) ?? 'lost') : null;
}
