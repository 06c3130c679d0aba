import type { AnyAgent } from '../agent/agent.ts';
import type { BroadcastSettings } from '../broadcasting/broadcast-config.ts';
import type { OwnerHook } from '../broadcasting/sse/sse-request.ts';
import type { Clock } from '../clock.ts';
import type { JsonObject } from '../json.ts';
import type { GrantPolicy } from '../sessions/grant-policy.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { AgentEntry } from './agent-entry.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Cors } from './site-rules.ts';

export interface AgentServerOptions {
  readonly runtime: SessionRuntime;
  /** Who asks: an id, null for a client that is not signed in (401), or your own response. It reads headers, never the body. */
  readonly owner: OwnerHook;
  /** What `/info` tells about. */
  readonly agents?: readonly (AnyAgent | AgentEntry)[];
  /** For `/info`. Default `onward`. */
  readonly name?: string;
  /** In words, such as `SQLite`, for `/info`. */
  readonly store?: string;
  /** Where it is mounted; empty for the root. Default `/api`. */
  readonly basePath?: string;
  /** Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Of each owner, reads and opened streams included; null for none. Default 600 in 60 seconds. */
  readonly rateLimit?: RateLimit | null;
  /** Event streams that an owner may have open. Default 20. */
  readonly maxStreams?: number;
  /**
   * What owners may grant to an execution over this API. Default: what the runtime's `grants` say, which is in total
   * its limits once more, plus what was used beyond them.
   */
  readonly grants?: GrantPolicy;
  /** Pages of other origins that may use the API. Default: none, and no header says otherwise. */
  readonly cors?: Cors | null;
  /** Lets `POST /pusher/auth` answer. */
  readonly pusher?: { readonly key: string; readonly secret: string };
  /**
   * What events and log tell. Default: everything a screen can show, with whole arguments, every evaluation of an outcome
   * and results of up to 4,000 characters. Where clients listen to Pusher, give what its broadcaster has.
   */
  readonly broadcast?: BroadcastSettings;
  /** Unexpected errors; the client gets a 500 with the request id only. Default: console.error, redacted. */
  readonly onError?: (error: unknown, request: Request, requestId: string) => void;
  readonly clock?: Clock;
}

/** A Fetch handler: mount it in any server that has one. */
export interface AgentServer {
  (request: Request): Promise<Response>;
  readonly fetch: (request: Request) => Promise<Response>;
  /** The OpenAPI document. */
  readonly openapi: JsonObject;
  /** Ends all event streams; runs continue, and the runtime stays open. */
  close(): Promise<void>;
}
