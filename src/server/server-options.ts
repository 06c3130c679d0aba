import type { AnyAgent } from '../agent/agent.ts';
import type { BroadcastSettings } from '../broadcasting/broadcast-config.ts';
import type { OwnerHook } from '../broadcasting/sse/sse-request.ts';
import type { Clock } from '../clock.ts';
import type { JsonObject } from '../json.ts';
import type { EvalReports } from '../evals/eval-reports.ts';
import type { AgUiServer } from '../ag-ui/ag-ui-server.ts';
import type { AgentMcpServer } from '../mcp/server/mcp-server.ts';
import type { GrantPolicy } from '../sessions/grant-policy.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { AdminHook } from './admin-gate.ts';
import type { AgentEntry } from './agent-entry.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Cors } from './site-rules.ts';

export interface AgentServerOptions {
  readonly runtime: SessionRuntime;
  /**
   * Returns the owner: an id, null for a client that is not signed in (401), or your own response. It reads headers,
   * never the body.
   */
  readonly owner: OwnerHook;
  /**
   * Enables the routes under `/admin`, which show the work of all owners: returns `{ by }`, the name of the operator, null
   * for every other client (403), or your own response. It reads headers, never the body. Default: no such routes.
   */
  readonly admin?: AdminHook;
  /**
   * Enables `GET /admin/evals`, where operators read eval reports, such as `evalReportFolder('.onward/evals')` of
   * `onward/evals/node`. Needs `admin`. Default: no such routes.
   */
  readonly evals?: EvalReports;
  /**
   * Whether owners may read what models and tools got: requests with system prompt, tools and reasoning, payloads of
   * calls, comparisons and exports. Default false: the users of a product would read its prompts.
   */
  readonly payloads?: boolean;
  /** Agents that `/info` describes. */
  readonly agents?: readonly (AnyAgent | AgentEntry)[];
  /** Name of the server for `/info`. Default `onward`. */
  readonly name?: string;
  /** Name of the store for `/info`, such as `SQLite`. */
  readonly store?: string;
  /** Path where it is mounted; empty for the root. Default `/api`. */
  readonly basePath?: string;
  /** Maximum bytes of a body. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Maximum bytes of a body with a message, whose images and files are base64. Default 3,500,000, or `maxBodyBytes` if it is given. */
  readonly maxMessageBytes?: number;
  /**
   * Rate limit of each owner, including reads and opened streams; null for none. Default 600 requests in 60 seconds.
   */
  readonly rateLimit?: RateLimit | null;
  /** Maximum open event streams of an owner. Default 20. */
  readonly maxStreams?: number;
  /**
   * What owners may grant to an execution over this API. Default: the runtime's `grants`, which default to its limits
   * once more, plus what was used beyond them.
   */
  readonly grants?: GrantPolicy;
  /** Other origins whose pages may use the API. Default: none. */
  readonly cors?: Cors | null;
  /** Enables `POST /mcp`, where MCP clients call the agents: the result of `mcpServer({ runtime })`. Default: no such route. */
  readonly mcp?: AgentMcpServer;
  /** Enables `POST /ag-ui`, where AG-UI clients run the agents: the result of `agUiServer({ runtime })`. Default: no such route. */
  readonly agUi?: AgUiServer;
  /** Enables `POST /pusher/auth`. */
  readonly pusher?: { readonly key: string; readonly secret: string };
  /**
   * Which envelopes events and log contain. Default: everything that a UI can show, with whole arguments, every
   * evaluation of an outcome and results of up to 4,000 characters. If clients also use Pusher, pass the config of
   * its broadcaster.
   */
  readonly broadcast?: BroadcastSettings;
  /**
   * Called with unexpected errors; the client gets a 500 with only the request id. Default: console.error, redacted.
   */
  readonly onError?: (error: unknown, request: Request, requestId: string) => void;
  readonly clock?: Clock;
}

/** A Fetch handler: mount it in any server that accepts one. */
export interface AgentServer {
  (request: Request): Promise<Response>;
  readonly fetch: (request: Request) => Promise<Response>;
  /** The OpenAPI document. */
  readonly openapi: JsonObject;
  /** Ends all event streams and MCP requests. Runs continue, and the runtime stays open. */
  close(): Promise<void>;
}
