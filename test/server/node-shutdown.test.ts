import { agentServer, type AgentServer, type SessionDetail } from 'onward/server';
import type { RunningServer } from 'onward/server/node';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import type { SessionRuntime } from 'onward';
import {
  agentWith,
  ann,
  gate,
  runtimeOn,
  sqlitePlace,
  until,
  type Gate,
} from '../setup/sessions.ts';
import { SseClient } from '../setup/sse.ts';
import { serving } from './node-wire.ts';

const { toolCall, final } = ScenarioStep;
const headers = { 'x-user': 'ann', 'content-type': 'application/json' };

interface Harness {
  readonly runtime: SessionRuntime;
  readonly api: AgentServer;
  readonly server: RunningServer;
  readonly id: string;
  readonly client: SseClient;
  /** Blocks the tool of the first step. */
  readonly hold: Gate;
}

/** Starts a session, blocks its first tool, and connects a client. */
async function inMidStep(place = sqlitePlace()): Promise<Harness> {
  const hold = gate();
  const tool = mockTool('look', () => hold.passed.then(() => 'rows'));
  const agent = agentWith([toolCall('look'), final('done')], tool);
  const runtime = runtimeOn(place.open(), agent);
  const api = agentServer({ runtime, owner: (request) => request.headers.get('x-user') });
  const server = await serving(api);
  const created = await fetch(`${server.url}/api/sessions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ message: 'go' }),
  });
  const { id } = (await created.json()) as SessionDetail;
  const stream = await fetch(`${server.url}/api/sessions/${id}/events`, { headers });
  const client = new SseClient(stream.body!).follow();
  await until(() => client.envelopes.some(({ type }) => type === 'agent.tool.started'));
  return { runtime, api, server, id, client, hold };
}

describe('a shutdown', () => {
  it('ends streams, closes the server, and lets the runtime finish the step', async () => {
    const place = sqlitePlace();
    const { runtime, api, server, id, client, hold } = await inMidStep(place);
    await api.close();
    await server.close({ graceMs: 60_000 });
    await until(() => client.isEnded);
    await expect(fetch(server.url)).rejects.toThrow('fetch failed');
    const closing = runtime.close({ graceMs: 60_000 });
    hold.open();
    await closing;
    const later = runtimeOn(
      place.open(),
      agentWith(
        [final('done')],
        mockTool('look', () => ''),
      ),
    );
    expect((await later.get(id, ann)).stepCount).toBe(1);
    await later.recover();
    await until(async () => (await later.get(id, ann)).status === 'completed');
  });

  it('ends streams after the grace time without stopping the run', async () => {
    const { runtime, server, id, client, hold } = await inMidStep();
    await server.close({ graceMs: 50 });
    await until(() => client.envelopes.length > 0);
    hold.open();
    await until(async () => (await runtime.get(id, ann)).status === 'completed');
  });

  it('of one client does not stop the run', async () => {
    const { runtime, id, client, hold } = await inMidStep();
    await client.leave().catch(() => {});
    hold.open();
    await until(async () => (await runtime.get(id, ann)).status === 'completed');
  });
});
