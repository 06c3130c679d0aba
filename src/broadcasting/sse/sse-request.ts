import { AgentError, invalidOption, type ErrorCode } from '../../errors/agent-error.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import type { BroadcastSettings } from '../broadcast-config.ts';
import { readRef } from '../envelope-ref.ts';
import { readRefill } from '../refill.ts';
import { parsePosition } from './sse-frame.ts';

/** Returns the owner: an id, null for a client that is not signed in, or your own response, such as 403. */
export type OwnerHook = (
  request: Request,
) => string | null | Response | Promise<string | null | Response>;

export interface SessionEndpointOptions {
  readonly runtime: SessionRuntime;
  readonly owner: OwnerHook;
  /** Config of the live envelopes. Default: `BroadcastConfig.standard()`. */
  readonly config?: BroadcastSettings;
}

/** Answers a request about a session. Default of `sessionId`: `session_id` in the query. */
export type SessionEndpoint = (request: Request, sessionId?: string) => Promise<Response>;

/**
 * Creates an endpoint that returns the log after `?after=12@execution` as JSON, for Pusher clients and for clients
 * that detect a gap.
 */
export function refillEndpoint(options: SessionEndpointOptions): SessionEndpoint {
  const { runtime, owner, config } = options;
  return (request, given) =>
    answer(request, owner, async (ownerId) => {
      const text = new URL(request.url).searchParams.get('after');
      const position = text ? parsePosition(text) : { after: 0, executionId: null };
      if (!position) throw invalidOption('after', text, 'a position such as 12@execution');
      const { after, executionId } = position;
      const refill = await readRefill(runtime, sessionIdOf(request, given), {
        owner: ownerId,
        after,
        ...(executionId !== null && { executionId }),
        ...(config && { config }),
      });
      return Response.json(refill, { headers: privately });
    });
}

/** Creates an endpoint that returns the whole value of a truncated field as JSON, by `?ref=`. */
export function refEndpoint({ runtime, owner }: SessionEndpointOptions): SessionEndpoint {
  return (request, given) =>
    answer(request, owner, async (ownerId) => {
      const ref = new URL(request.url).searchParams.get('ref') ?? '';
      const sessionId = sessionIdOf(request, given);
      const value = await readRef(runtime, sessionId, ref, { owner: ownerId });
      return Response.json({ ref, value }, { headers: privately });
    });
}

const privately = { 'cache-control': 'private, no-store' };

export const sessionIdOf = (request: Request, given: string | undefined): string =>
  given ?? new URL(request.url).searchParams.get('session_id') ?? '';

/** Checks the owner and maps known errors to HTTP responses; other errors are thrown to the server. */
export async function answer(
  request: Request,
  owner: OwnerHook,
  work: (owner: string) => Promise<Response>,
): Promise<Response> {
  const asking = await owner(request);
  if (asking instanceof Response) return asking;
  if (!asking) return refused(401, 'unauthorized', 'The request is not signed in.');
  try {
    return await work(asking);
  } catch (error) {
    // the client is gone
    if (request.signal.aborted) return new Response(null, { status: 499 });
    if (!AgentError.is(error)) throw error;
    const status = httpStatuses[error.code];
    if (status === undefined) throw error;
    return refused(status, error.code, status === 503 ? 'Try again soon.' : error.message);
  }
}

/** HTTP statuses of the runtime's error codes, for every endpoint. Other codes are server errors. */
export const httpStatuses: Readonly<Partial<Record<ErrorCode, number>>> = {
  // also for a session of another owner, so that its existence is not disclosed
  session_not_found: 404,
  ref_not_found: 404,
  unknown_approval: 404,
  unknown_input: 404,
  invalid_option: 400,
  invalid_message: 400,
  unknown_agent: 400,
  invalid_approval: 422,
  invalid_input: 422,
  grant_refused: 403,
  conflict: 409,
  awaiting_approval: 409,
  stale_approval: 409,
  parked: 409,
  read_only: 409,
  execution_open: 409,
  not_resumable: 409,
  state_too_large: 413,
  store_failed: 503,
  queue_full: 503,
  runtime_closed: 503,
};

const refused = (status: number, code: string, message: string): Response =>
  Response.json(
    { error: { code, message } },
    { status, headers: { ...privately, ...(status === 503 && { 'retry-after': '2' }) } },
  );
