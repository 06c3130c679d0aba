import type { AnyAgent } from '../agent/agent.ts';
import type { AgentEntry } from '../server/agent-entry.ts';
import type { SessionRuntimeOptions } from '../sessions/session-options.ts';
import type { SessionStore } from '../sessions/session-store.ts';

/** What `onward.config.ts` says. */
export interface OnwardConfig {
  /** Shown in the console. Default: the name of the folder. */
  readonly name?: string;
  /** The first is the default of `onward run`. */
  readonly agents: readonly (AnyAgent | AgentEntry)[];
  /** Where sessions live: a path of a SQLite file, or a store. Default: `.onward/sessions.db`. */
  readonly store?: string | SessionStore;
  /** Default 4111. */
  readonly port?: number;
  /** Whose sessions the command line works with. Default `dev`. */
  readonly owner?: string;
  /** Further people who may come in: token to owner. The printed token belongs to `owner`. */
  readonly tokens?: Readonly<Record<string, string>>;
  /** For live updates over Reverb or Pusher: lets `POST /pusher/auth` answer. */
  readonly pusher?: { readonly key: string; readonly secret: string };
  /** Live things for tools and hooks, as `SessionRuntime` takes them. */
  readonly deps?: NonNullable<SessionRuntimeOptions['deps']>;
  /** How long work is held without a sign of life, as `SessionRuntime` takes it. */
  readonly lease?: NonNullable<SessionRuntimeOptions['lease']>;
}

/** Gives the config its types; returns it as it is. */
export const defineConfig = (config: OnwardConfig): OnwardConfig => config;
