import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import {
  AgentBuilder,
  defineTool,
  SessionRuntime,
  type Agent,
  type InferenceDriver,
  type SessionRuntimeOptions,
  type Tool,
} from 'onward';
import { sqliteStore } from 'onward/stores/sqlite';
import { ScenarioStep } from 'onward/testing';
import { onTestFinished } from 'vitest';
import { runCli } from '../../src/cli/cli.ts';
import type { CliIo, CliSignal } from '../../src/cli/cli-io.ts';
import type { OnwardConfig } from '../../src/cli/config.ts';
import { followingDriver, type Gate } from '../setup/sessions.ts';
import { removeFolder } from '../setup/folders.ts';

export const owner = { owner: 'dev' } as const;

export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'onward-cli-'));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

export interface FakeWorld {
  readonly cwd: string;
  readonly config?: OnwardConfig;
  readonly env?: Record<string, string>;
  /** Answers of the user on a terminal, in order. */
  readonly says?: readonly string[];
  /** Piped input. */
  readonly input?: string;
  readonly isTTY?: boolean;
  /** Streams that a protocol uses. */
  readonly stdio?: { readonly stdin: object; readonly stdout: object };
  readonly consoleDir?: string;
}

export class Outcome {
  stdout = '';
  stderr = '';
  code = -1;
  /** Questions in order. */
  readonly questions: string[] = [];
  readonly exits: number[] = [];
  readonly opened: string[] = [];
  readonly listeners: Set<(signal: CliSignal) => void> = new Set();

  get lines(): Record<string, unknown>[] {
    return this.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }
  get last(): Record<string, unknown> {
    return this.lines.at(-1) ?? {};
  }
  signal(name: CliSignal): void {
    for (const listener of this.listeners) listener(name);
  }
}

/** Starts the command in the given environment; `done` has the exit code. */
export function start(
  argv: readonly string[],
  world: FakeWorld,
): { readonly outcome: Outcome; readonly done: Promise<Outcome> } {
  const outcome = new Outcome();
  const { isTTY = world.says !== undefined } = world;
  const says = [...(world.says ?? [])];
  const io: CliIo = {
    stdout: { write: (text) => void (outcome.stdout += text), isTTY },
    stderr: { write: (text) => void (outcome.stderr += text), isTTY },
    env: { TERM: 'dumb', ...world.env },
    cwd: world.cwd,
    isTTY,
    ask(question) {
      outcome.questions.push(question);
      return Promise.resolve(says.shift() ?? null);
    },
    readInput: () => Promise.resolve(world.input ?? null),
    takeStdio: () => world.stdio ?? { stdin: new PassThrough(), stdout: new PassThrough() },
    onSignal(listener) {
      outcome.listeners.add(listener);
      return () => outcome.listeners.delete(listener);
    },
    exit: (code) => outcome.exits.push(code),
    openBrowser: (url) => outcome.opened.push(url),
    ...(world.config && { config: world.config }),
    ...(world.consoleDir !== undefined && { consoleDir: world.consoleDir }),
  };
  const done = runCli(argv, io).then((code) => {
    outcome.code = code;
    return outcome;
  });
  return { outcome, done };
}

export const cli = (world: FakeWorld, ...argv: readonly string[]): Promise<Outcome> =>
  start(argv, world).done;

const stock: Tool = defineTool({
  name: 'stock',
  description: 'How many pieces of an article we have.',
  parameters: {
    type: 'object',
    properties: { article: { type: 'string' } },
    required: ['article'],
  },
  execute: ({ article }) => {
    if (article === 'bad') throw new Error('no such article');
    return { article, pieces: 7 };
  },
});

const remove: Tool = defineTool({
  name: 'delete_lead',
  description: 'Deletes a lead.',
  needsApproval: true,
  parameters: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] },
  execute: ({ id }) => ({ deleted: id }),
});

export const agentOn = (
  driver: InferenceDriver,
  change: (builder: AgentBuilder) => AgentBuilder = (builder) => builder,
): Agent =>
  change(
    AgentBuilder.base().withName('support').withModel(driver).withTools(stock, remove),
  ).build();

/** Returns a new folder with one agent on this model. */
export const worldOf = (
  driver: InferenceDriver = followingDriver([ScenarioStep.final('hello')]),
  more: Partial<FakeWorld> = {},
): FakeWorld => ({
  cwd: tempFolder(),
  config: { agents: [agentOn(driver)] },
  ...more,
});

/** Returns a driver that never responds, until it is aborted. */
export const waitingDriver = (entered: Gate): InferenceDriver => ({
  name: 'waiting',
  infer: (_request, { signal }) => {
    entered.open();
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  },
});

/** A retryable model error. */
export const lost = { message: 'broken line', type: 'rate_limit', retryable: true } as const;

/** Opens the sessions of a folder outside the command. */
export function lookInto(
  cwd: string,
  agent: Agent,
  options: Partial<SessionRuntimeOptions> = {},
): SessionRuntime {
  const store = sqliteStore({ path: join(cwd, '.onward', 'sessions.db') });
  const runtime = new SessionRuntime({ store, agents: [agent], onError: () => {}, ...options });
  onTestFinished(async () => {
    await runtime.close({ graceMs: 0 });
    await store.close();
  });
  return runtime;
}
