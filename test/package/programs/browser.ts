/** Imports for a page or a worker, without Node types. */
import { createAgent, SessionRuntime } from 'onward';
import { sseEndpoint } from 'onward/broadcasting';
import { agentServer } from 'onward/server';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver } from 'onward/testing';
import { httpSession, newUiState } from 'onward/ui';

/** Calls a server function and reads its state. */
export async function answer(): Promise<string> {
  const agent = createAgent({ driver: DeterministicDriver.fromResponses('hello') });
  const runtime = new SessionRuntime({ store: memoryStore(), agents: [agent] });
  const server = agentServer({ runtime, owner: () => 'ann' });
  const ask = async (path: string, init?: RequestInit): Promise<Response> =>
    server(new Request(`https://app.example/api${path}`, init));
  const created = await ask('/sessions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'a', message: 'hi' }),
  });
  await runtime.wait('a', { owner: 'ann' });
  const { status } = (await (await ask('/sessions/a')).json()) as { readonly status: string };
  const live = await ask('/sessions/a/events');
  await live.body?.cancel();
  await server.close();
  const parts = [created.status, status, live.headers.get('content-type'), newUiState().status];
  return [...parts, typeof httpSession, typeof sseEndpoint].join(' ');
}
