import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { SessionDetail } from 'onward/server';
import { expect, onTestFinished } from 'vitest';
import { isEnd, SseClient } from '../setup/sse.ts';
import { until } from '../setup/sessions.ts';
import { removeFolder } from '../setup/folders.ts';

/** A child process that serves an agent, with its own folder for sessions. */
export interface Example {
  readonly url: string;
  /** Its output. */
  readonly printed: () => string;
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>;
}

export interface ExampleProgram {
  /** Arguments for Node, relative to the root of the project. */
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Default: the environment of the test. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts a program until the end of the test. Its URL is the first one that it prints. */
export async function startExample({ args, cwd, env }: ExampleProgram): Promise<Example> {
  const folder = mkdtempSync(join(tmpdir(), 'onward-example-'));
  const child = spawn(process.execPath, args, {
    cwd: resolve(cwd ?? '.'),
    env: { ...(env ?? process.env), SESSIONS: join(folder, 'sessions.db'), PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // its own process group, because some programs start further processes
    detached: true,
  });
  let text = '';
  child.stdout.on('data', (data) => (text += String(data)));
  child.stderr.on('data', (data) => (text += String(data)));
  const ended = new Promise<number | null>((settle) => {
    child.once('close', settle);
  });
  onTestFinished(async () => {
    if (child.pid !== undefined) killGroup(child.pid);
    await ended;
    removeFolder(folder);
  });
  const url = await until(async () => {
    if (child.exitCode !== null) throw new Error(`it ended with ${await ended}: ${text}`);
    return /http:\/\/(?:127\.0\.0\.1|localhost):\d+/.exec(text)?.[0];
  });
  return {
    url,
    printed: () => text,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // all processes have ended
  }
}

export interface Dialogue {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers of another owner without access. */
  readonly others: Readonly<Record<string, string>>;
  readonly message: string;
  readonly tool: string;
  readonly answer: string;
}

/**
 * Runs a conversation like a client: a message, live events, the approval, and live events up to the answer. Returns a
 * stream that is still open.
 */
export async function holdsConversation(dialogue: Dialogue): Promise<SseClient> {
  const { url, headers, others, message, tool, answer } = dialogue;
  const ask = (path: string, who: Readonly<Record<string, string>>, body?: unknown) =>
    fetch(`${url}/api${path}`, {
      headers: { ...who, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
  const detail = async (response: Response, status: number): Promise<SessionDetail> => {
    const text = await response.text();
    expect([response.status, text]).toEqual([status, expect.stringMatching(/^\{"/)]);
    return JSON.parse(text) as SessionDetail;
  };

  expect((await ask('/sessions', {}, { message })).status).toBe(401);
  const { id } = await detail(await ask('/sessions', headers, { message }), 201);
  const stream = await ask(`/sessions/${id}/events`, headers);
  expect(stream.headers.get('content-type')).toContain('text/event-stream');
  const client = new SseClient(stream.body ?? new ReadableStream());
  const ends = (): string[] =>
    client.envelopes.flatMap((each) =>
      each.type === 'agent.status' && isEnd(each) ? [each.payload.status] : [],
    );
  await client.until(() => ends().length === 1);
  expect(ends()).toEqual(['paused']);

  const paused = await detail(await ask(`/sessions/${id}`, headers), 200);
  expect(paused).toMatchObject({ status: 'paused', pendingApprovals: [{ tool }] });
  const path = `/sessions/${id}/approvals/${paused.pendingApprovals[0]?.callId}`;
  const decision = { decision: 'approve' };
  expect((await ask(`/sessions/${id}`, others)).status).toBe(404);
  expect((await ask(path, others, decision)).status).toBe(404);
  await detail(await ask(path, headers, decision), 202);
  await client.until(() => ends().length === 2);
  expect(ends()).toEqual(['paused', 'completed']);

  const done = await detail(await ask(`/sessions/${id}`, headers), 200);
  expect(done).toMatchObject({ status: 'completed', output: answer });
  return client;
}
