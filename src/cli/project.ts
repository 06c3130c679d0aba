import { basename, relative, resolve } from 'node:path';
import type { AgentEntry } from '../server/agent-entry.ts';
import { checkedLeaseTimes } from '../sessions/lease-keeper.ts';
import { SessionRuntime } from '../sessions/session-runtime.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import { sqliteStore } from '../sessions/stores/sqlite/index.ts';
import { entriesOf } from './check-config.ts';
import { commandName } from './cli-context.ts';
import type { CliIo } from './cli-io.ts';
import type { OnwardConfig } from './config.ts';
import { chooseDemoModel } from './demo-model.ts';
import { makeDotFolder } from './dot-folder.ts';
import { queueOf, type QueueChoice } from './project-queue.ts';
import { usageError } from './usage-error.ts';

type Failed = (error: unknown, sessionId: string) => void;

export interface ProjectOptions extends QueueChoice {
  /** Config; null means the demo. */
  readonly config: OnwardConfig | null;
  /** Folder that contains `.onward` and resolves relative paths. */
  readonly folder: string;
  /** Path of a SQLite file that replaces the config's store. */
  readonly store?: string;
  readonly owner?: string;
  readonly env?: CliIo['env'];
  /** Names of the only agents to use. Default: all of the config. */
  readonly agents?: readonly string[];
  /** Whether owners are other people than the operator: their grants are capped. Default false. */
  readonly isProduction?: boolean;
  /** Called with errors that no other listener handles. */
  readonly onError?: Failed;
}

/** Agents, their sessions and owners: what every command uses. */
export interface Project {
  readonly name: string;
  readonly agents: readonly AgentEntry[];
  readonly isDemo: boolean;
  /** Why the demo uses its model. */
  readonly modelNote: string | null;
  readonly owner: string;
  /** The command to type: `onward`, or `npx onward`. */
  readonly command: string;
  readonly store: SessionStore;
  /** Name of the store to show: `SQLite · .onward/sessions.db`. */
  readonly storeLabel: string;
  readonly runtime: SessionRuntime;
  /** Milliseconds of a lease. */
  readonly leaseMs: number;
  /** Called with work that failed here. */
  onFailure(listener: Failed): () => void;
  /** Finishes the running step, then closes everything. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

export async function openProject(options: ProjectOptions): Promise<Project> {
  const { config, onError, isShared = false, isDetached = false } = options;
  const app = config ? ofConfig(config, options) : await ofDemo(options);
  const queue = queueOf(config, options);
  const bus = isShared || isDetached ? config?.bus : undefined;
  const { store, label } = storeOf(options);
  const listeners = new Set<Failed>();
  const runtime = new SessionRuntime({
    store,
    agents: app.agents.map(({ agent }) => agent),
    // the user of the command line operates the sessions, so grants are not capped
    ...(!options.isProduction && { grants: 'unlimited' }),
    ...(config?.deps && { deps: config.deps }),
    ...(config?.lease && { lease: config.lease }),
    ...(queue && { queue }),
    ...(bus && { bus: typeof bus === 'function' ? bus() : bus }),
    ...(isDetached && { work: false }),
    onError(error, sessionId) {
      if (listeners.size === 0) onError?.(error, sessionId);
      for (const listener of listeners) listener(error, sessionId);
    },
  });
  return {
    name: app.name,
    agents: app.agents,
    isDemo: config === null,
    modelNote: app.modelNote,
    owner: options.owner ?? config?.owner ?? 'dev',
    command: commandName(options.env ?? {}),
    store,
    storeLabel: label,
    runtime,
    leaseMs: checkedLeaseTimes(config?.lease).leaseMs,
    onFailure(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close({ graceMs = 0 } = {}) {
      await runtime.close({ graceMs });
      await store.close();
      await app.close();
    },
  };
}

interface App {
  readonly name: string;
  readonly agents: readonly AgentEntry[];
  readonly modelNote: string | null;
  close(): unknown;
}

const ofConfig = (config: OnwardConfig, { folder, agents }: ProjectOptions): App => ({
  name: config.name ?? basename(resolve(folder)),
  agents: agents === undefined ? entriesOf(config) : named(entriesOf(config), agents),
  modelNote: null,
  close: () => {},
});

function named(entries: readonly AgentEntry[], names: readonly string[]): readonly AgentEntry[] {
  const known = entries.map(({ agent }) => agent.name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw usageError(
      `The config has no agent ${JSON.stringify(unknown)}, expected some of: ${known.join(', ')}. Name them with --agents a,b.`,
    );
  return entries.filter(({ agent }) => names.includes(agent.name));
}

async function ofDemo({ folder, env = {} }: ProjectOptions): Promise<App> {
  const { model, note } = chooseDemoModel({ env });
  // most projects have a config and never load the demo
  const { demoApp } = await import('../demo/index.ts');
  const demo = await demoApp({
    folder: makeDotFolder(folder),
    ...(model !== null && { model, modelLabel: model.slice(model.indexOf(':') + 1) }),
  });
  return { name: demo.name, agents: demo.agents, modelNote: note, close: () => demo.close() };
}

function storeOf({ config, folder, store: given }: ProjectOptions): {
  readonly store: SessionStore;
  readonly label: string;
} {
  const named = given ?? config?.store;
  if (typeof named === 'object') return { store: named, label: named.name };
  const path =
    named === undefined ? `${makeDotFolder(folder)}/sessions.db` : resolve(folder, named);
  const shown = relative(folder, path);
  return {
    store: sqliteStore({ path }),
    label: `SQLite · ${shown.startsWith('..') ? path : shown}`,
  };
}
