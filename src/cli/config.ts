import type { AnyAgent } from '../agent/agent.ts';
import type { OwnerHook } from '../broadcasting/sse/sse-request.ts';
import type { MessageBus } from '../bus/message-bus.ts';
import type { AgentEntry } from '../server/agent-entry.ts';
import type { AgentServerOptions } from '../server/server-options.ts';
import type { ExecutionQueue } from '../sessions/execution-queue.ts';
import type { SessionRuntimeOptions } from '../sessions/session-options.ts';
import type { SessionStore } from '../sessions/session-store.ts';

/** Contents of `onward.config.ts`. */
export interface OnwardConfig {
  /** Name to show in the console. Default: the name of the folder. */
  readonly name?: string;
  /** Agents; the first is the default of `onward run`. */
  readonly agents: readonly (AnyAgent | AgentEntry)[];
  /** Session store: the path of a SQLite file, or a store. Default: `.onward/sessions.db`. */
  readonly store?: string | SessionStore;
  /**
   * Queue that processes share, or a function that makes it: `(options) => bullQueue({ connection, ...options })`. The
   * function gets what `onward worker --concurrency` sets. Default: each process has its own queue.
   */
  readonly queue?:
    | ExecutionQueue
    | ((options: { readonly concurrency?: number }) => ExecutionQueue);
  /** Bus that carries messages between processes, or a function that makes it. Default: none. */
  readonly bus?: MessageBus | (() => MessageBus);
  /** Port of the server. Default 4111. */
  readonly port?: number;
  /** `Host` headers that a server on a loopback address also accepts, such as those of a proxy: `chat.example.com`. */
  readonly allowedHosts?: readonly string[];
  /** Owner of the command line's sessions. Default `dev`. */
  readonly owner?: string;
  /**
   * Returns the owner of a request to `onward serve`: an id, null for a client that is not signed in (401), or your own
   * response. It reads headers, never the body.
   */
  readonly auth?: OwnerHook;
  /** Additional users: maps a token to an owner. The printed token of `onward dev` belongs to `owner`. */
  readonly tokens?: Readonly<Record<string, string>>;
  /** Whether `onward serve` also serves the console. Default false. */
  readonly console?: boolean;
  /** Options of the API of `onward serve`, as in `agentServer`. */
  readonly server?: Pick<
    AgentServerOptions,
    | 'admin'
    | 'broadcast'
    | 'cors'
    | 'evals'
    | 'grants'
    | 'maxBodyBytes'
    | 'maxStreams'
    | 'payloads'
    | 'rateLimit'
  >;
  /** Whether `onward dev` and `onward serve` also serve MCP clients, at `POST /api/mcp`. Default false. */
  readonly mcp?: boolean;
  /** Whether `onward dev` and `onward serve` also serve AG-UI clients, at `POST /api/ag-ui`. Default false. */
  readonly agUi?: boolean;
  /** Credentials for live updates over Reverb or Pusher: enables `POST /pusher/auth`. */
  readonly pusher?: { readonly key: string; readonly secret: string };
  /** Dependencies for tools and hooks, as in `SessionRuntime`. */
  readonly deps?: NonNullable<SessionRuntimeOptions['deps']>;
  /** Lease times, as in `SessionRuntime`. */
  readonly lease?: NonNullable<SessionRuntimeOptions['lease']>;
}

/** Types the config; returns it unchanged. */
export const defineConfig = (config: OnwardConfig): OnwardConfig => config;
