import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import {
  createAgent,
  ErrorPolicy,
  type Agent,
  type AgentEvent,
  type AgentState,
  type AnyTool,
} from 'onward';
import type { McpCapability, McpStdioServer } from 'onward/mcp';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { onTestFinished } from 'vitest';
import { removeFolder } from './folders.ts';
import { freePort } from './kept-server.ts';
import { toolPath } from './test-tools.ts';

/** Path of the official reference server. */
export const everything = (): string =>
  join(
    dirname(toolPath('@modelcontextprotocol/server-everything/package.json')),
    'dist',
    'index.js',
  );

const hostileFile = resolve('test/mcp/servers/hostile.mjs');
const statelessFile = resolve('test/mcp/servers/stateless.mjs');

/** A file of lines that a server writes. */
function notebook(): { readonly file: string; lines(): readonly string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'onward-mcp-'));
  onTestFinished(() => removeFolder(folder));
  const file = join(folder, 'notes');
  writeFileSync(file, '');
  return {
    file,
    lines: () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []),
  };
}

export interface HostileServer {
  readonly server: McpStdioServer;
  /** Names of the tools that were called. */
  calls(): readonly string[];
  pids(): readonly number[];
}

/** A hostile stdio server: the mode says what it does. */
export function hostile(mode: string, env: Record<string, string> = {}): HostileServer {
  const notes = notebook();
  const server = {
    name: 'bad',
    command: process.execPath,
    args: [hostileFile, mode, notes.file],
    env,
  };
  return {
    server,
    calls: () => notes.lines().filter((line) => !line.startsWith('pid ')),
    pids: () =>
      notes.lines().flatMap((line) => (line.startsWith('pid ') ? [Number(line.slice(4))] : [])),
  };
}

export interface HttpServer {
  readonly url: string;
  /** Effects of its tools. */
  effects(): readonly string[];
  kill(): Promise<void>;
  /** Starts it again whenever it dies. */
  keepUp(): void;
  /** Waits until it answers. */
  up(): Promise<void>;
  /** Starts it on the same port. */
  start(): Promise<void>;
}

/** Our stateless server of the new protocol generation, in a process. */
export const stateless = (): Promise<HttpServer> =>
  httpServer((port, file) => ({ args: [statelessFile, String(port), file], env: {} }), 'up');

/** The reference server with sessions, over HTTP. */
export const everythingHttp = (): Promise<HttpServer> =>
  httpServer(
    (port) => ({ args: [everything(), 'streamableHttp'], env: { PORT: String(port) } }),
    'listening',
  );

async function httpServer(
  program: (
    port: number,
    file: string,
  ) => { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> },
  ready: string,
): Promise<HttpServer> {
  const port = await freePort();
  const notes = notebook();
  let child: ChildProcess | null = null;
  let isKeptUp = false;
  const kill = async (): Promise<void> => {
    isKeptUp = false;
    const dying = child;
    child = null;
    if (!dying || dying.exitCode !== null || dying.signalCode !== null) return;
    const gone = once(dying, 'exit');
    dying.kill('SIGKILL');
    await gone;
  };
  const start = async (): Promise<void> => {
    const { args, env } = program(port, notes.file);
    const started = spawn(process.execPath, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    await new Promise<void>((up, reject) => {
      const read = (chunk: Buffer): void => {
        if (String(chunk).includes(ready)) up();
      };
      started.stdout.on('data', read);
      started.stderr.on('data', read);
      started.once('exit', () => {
        reject(new Error('the server ended'));
        if (isKeptUp && child === started) start().catch(() => {});
      });
    });
  };
  onTestFinished(kill);
  await start();
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    effects: notes.lines,
    kill,
    start,
    up: async () => {
      while (!(await fetch(`http://127.0.0.1:${port}/`).catch(() => null)))
        await new Promise((resolve) => setTimeout(resolve, 50));
    },
    keepUp: () => void (isKeptUp = true),
  };
}

export interface Caller {
  readonly agent: Agent;
  readonly model: DeterministicDriver;
  readonly events: readonly AgentEvent[];
  run(owner?: string): Promise<AgentState>;
  /** Names that the model saw in each step. */
  offered(): readonly (readonly string[])[];
}

/** An agent that makes these calls, each in a step of its own, and closes with the test. */
export function caller(
  capability: McpCapability,
  calls: readonly (readonly [tool: string, args?: Record<string, never> | object])[],
  between: (number: number) => void | Promise<void> = () => {},
): Caller {
  let number = 0;
  const model = DeterministicDriver.fromSteps(
    ...calls.map(([name, args = {}]) => ScenarioStep.toolCall(name, args as never)),
    ScenarioStep.final('done'),
  );
  const agent = createAgent({
    model,
    capabilities: [capability],
    errorPolicy: ErrorPolicy.retryAll().withMaxRetries(20).withBackoff({ initialMs: 1, maxMs: 1 }),
    hooks: [
      {
        name: 'between',
        aroundModelCall: async (request, next) => {
          await between(++number);
          return next(request);
        },
      },
    ],
  });
  onTestFinished(() => agent.close());
  const events: AgentEvent[] = [];
  return {
    agent,
    model,
    events,
    run: (owner?: string) =>
      agent.run('go', {
        ...(owner !== undefined && { owner }),
        wiretap: (event) => void events.push(event),
      }),
    offered: () => model.requests.map(({ tools }) => tools.map(({ name }) => name)),
  };
}

/** The result of each call: its value, or its error code. */
export const resultsOf = (state: AgentState): readonly unknown[] =>
  [...state.steps].flatMap(({ results }) =>
    results.map(({ kind, value, error }) => (kind === 'ok' ? value : (error?.code ?? kind))),
  );

/** Whether a process still runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The tools of a capability for an owner, as the loop loads them. */
export async function toolsOf(
  capability: McpCapability,
  owner: string | null = null,
): Promise<{ readonly tools: readonly AnyTool[]; readonly unavailable?: string }> {
  const load = capability.tools as (context: object) => Promise<never>;
  return load({
    owner,
    deps: {},
    agentId: 'a',
    executionId: 'e',
    signal: AbortSignal.timeout(60_000),
  });
}
