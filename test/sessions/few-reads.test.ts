import { expect, it } from 'vitest';
import { AgentBuilder } from '../../src/agent/agent-builder.ts';
import { agentServer } from '../../src/server/agent-server.ts';
import { SessionRuntime } from '../../src/sessions/session-runtime.ts';
import type { SessionStore } from '../../src/sessions/session-store.ts';
import { memoryStore } from '../../src/sessions/stores/memory/index.ts';
import { DeterministicDriver } from '../../src/testing/deterministic-driver.ts';

const reads = new Set(['find', 'messages', 'steps', 'events', 'agents', 'calls', 'nextCommand']);

/** Counts what is read from a store. */
function counted(): { readonly store: SessionStore; readonly read: string[] } {
  const store = memoryStore();
  const read: string[] = [];
  const counting = new Proxy(store, {
    get(of, name: Exclude<keyof SessionStore, number | symbol>) {
      if (reads.has(name)) read.push(name);
      return of[name];
    },
  });
  return { store: counting, read };
}

const agent = (answers: readonly string[]) =>
  AgentBuilder.base()
    .withDriver(DeterministicDriver.fromResponses(...answers))
    .build();

it('a new session with a message over HTTP is read once before its answer is stored', async () => {
  const { store, read } = counted();
  const runtime = new SessionRuntime({ store, agents: [agent(['hello'])] });
  const api = agentServer({ runtime, owner: () => 'bob' });
  const body = JSON.stringify({ message: 'hi', metadata: { a: 1 } });
  const headers = { 'content-type': 'application/json' };
  const answer = await api(
    new Request('http://localhost/api/sessions', { method: 'POST', body, headers }),
  );
  expect(answer.status).toBe(201);
  const session = (await answer.json()) as { readonly id: string };
  expect(session).toMatchObject({ status: 'processing', phase: 'open', metadata: { a: 1 } });
  const { length } = read;
  expect(read.slice(0, length)).toEqual(length === 0 ? [] : ['nextCommand']);
  expect(await runtime.wait(session.id, { owner: 'bob' })).toMatchObject({ output: 'hello' });
  expect(read.filter((name) => name !== 'find')).toEqual(['nextCommand']);
  await runtime.close();
});

it('a message that is refused leaves no session', async () => {
  const runtime = new SessionRuntime({ store: memoryStore(), agents: [agent(['hello'])] });
  const api = agentServer({ runtime, owner: () => 'bob' });
  await runtime.close();
  const answer = await api(
    new Request('http://localhost/api/sessions', {
      method: 'POST',
      body: JSON.stringify({ message: 'hi' }),
      headers: { 'content-type': 'application/json' },
    }),
  );
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(await runtime.list({ owner: 'bob' })).toMatchObject({ sessions: [] });
});
