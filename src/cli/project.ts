import { basename, relative, resolve } from 'node:path';
import type { AgentEntry } from '../server/agent-entry.ts';
import type { ExecutionQueue } from '../sessions/execution-queue.ts';
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

type Failed = (error: unknown, sessionId: string) => void;

export interface ProjectOptions {
  /** Null: the demo. */
  readonly config: OnwardConfig | null;
  /** `.onward` is in it, and paths are seen from it. */
  readonly folder: string;
  /** In place of the config's: a path of a SQLite file. */
  readonly store?: string;
  readonly owner?: string;
  readonly env?: CliIo['env'];
  /** Takes requests and leaves the work to other processes. */
  readonly isDetached?: boolean;
  /** Receives errors that no other listener handles. */
  readonly onError?: Failed;
}

/** Agents, their sessions and whose they are: what every command works with. */
export interface Project {
  readonly name: string;
  readonly agents: readonly AgentEntry[];
  readonly isDemo: boolean;
  /** Why the demo has the model that it has. */
  readonly modelNote: string | null;
  readonly owner: string;
  /** What to type for this command: `onward`, or `npx onward`. */
  readonly command: string;
  readonly store: SessionStore;
  /** As people know it: `SQLite · .onward/sessions.db`. */
  readonly storeLabel: string;
  readonly runtime: SessionRuntime;
  /** How long work is held without a sign of life. */
  readonly leaseMs: number;
  /** Hears of work that could not be done here. */
  onFailure(listener: Failed): () => void;
  /** Finishes the running step, then closes what was opened. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

export async function openProject(options: ProjectOptions): Promise<Project> {
  const { config, folder, onError } = options;
  const app = config ? ofConfig(config, folder) : await ofDemo(options);
  const { store, label } = storeOf(options);
  const listeners = new Set<Failed>();
  const runtime = new SessionRuntime({
    store,
    agents: app.agents.map(({ agent }) => agent),
    // who types here runs the sessions
    grants: 'unlimited',
    ...(config?.deps && { deps: config.deps }),
    ...(config?.lease && { lease: config.lease }),
    ...(options.isDetached && { queue: idleQueue }),
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

const ofConfig = (config: OnwardConfig, folder: string): App => ({
  name: config.name ?? basename(resolve(folder)),
  agents: entriesOf(config),
  modelNote: null,
  close: () => {},
});

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

/** What is asked goes into the store; nothing is begun here. */
const idleQueue: ExecutionQueue = {
  start: () => {},
  add: () => {},
  isFull: false,
  waiting: 0,
  drain: async () => {},
};
