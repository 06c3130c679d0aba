import { request as httpRequest } from 'node:http';
import { connect as tcp } from 'node:net';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { BroadcastConfig, readRefill } from 'onward/broadcasting';
import { describe, expect, it } from 'vitest';
import {
  agentWith,
  ann,
  builderWith,
  gate,
  memoryPlace,
  runtimeOn,
  until,
  waiting,
} from '../setup/sessions.ts';
import { liveOn, serveFetch, SseClient } from '../setup/sse.ts';

const { toolCall, final, stream } = ScenarioStep;

const served = async (runtime: Parameters<typeof liveOn>[0], options = {}) => {
  const live = liveOn(runtime, options);
  const { url, server } = await serveFetch((asked) =>
    live(asked, new URL(asked.url).pathname.split('/')[2]),
  );
  const open = async (id: string, headers: Record<string, string> = {}): Promise<SseClient> => {
    const response = await fetch(`${url}/sessions/${id}`, {
      headers: { 'x-user': 'ann', ...headers },
    });
    expect(response.status).toBe(200);
    return new SseClient(response.body!);
  };
  return { live, url, server, open };
};

describe('SSE over real sockets', () => {
  it('delivers a run live and continues at the last position after a reconnect', async () => {
    const hold = gate();
    const agent = agentWith(
      [toolCall('look', {}, 'let me look'), stream(['All ', 'is ', 'well.'])],
      mockTool('look', () => hold.passed.then(() => 'rows')),
    );
    const runtime = runtimeOn(memoryPlace().open(), agent);
    const { live, open } = await served(runtime);
    const { id } = await runtime.create(ann);
    const client = await open(id);
    const running = runtime.send(id, 'go', waiting);
    await client.until(() => client.envelopes.some(({ type }) => type === 'agent.tool.started'));
    await client.leave();
    await until(() => live.hub.counters.readers === 0);
    hold.open();
    expect((await running).status).toBe('completed');
    const back = await open(id, { 'last-event-id': client.lastId! });
    await back.until(() => back.ends === 1);
    const all = (await readRefill(runtime, id, ann)).envelopes;
    expect([...client.numbered, ...back.numbered]).toEqual(all);
  });

  it('detects broken sockets without stopping the run', async () => {
    const hold = gate();
    const agent = agentWith(
      [toolCall('look'), final('done')],
      mockTool('look', () => hold.passed.then(() => 'rows')),
    );
    const runtime = runtimeOn(memoryPlace().open(), agent);
    const { live, url } = await served(runtime);
    const { id } = await runtime.create(ann);
    const running = runtime.send(id, 'go', waiting);
    const sockets = await Promise.all(
      Array.from(
        { length: 20 },
        () =>
          new Promise<ReturnType<typeof httpRequest>>((resolve) => {
            const asked = httpRequest(
              `${url}/sessions/${id}`,
              { headers: { 'x-user': 'ann' } },
              (response) => response.once('data', () => resolve(asked)).on('error', () => {}),
            );
            asked.on('error', () => {}).end();
          }),
      ),
    );
    expect(live.hub.counters.readers).toBe(20);
    for (const asked of sockets) asked.destroy();
    await until(() => live.hub.counters.readers === 0);
    hold.open();
    expect((await running).status).toBe('completed');
  });

  it('disconnects a client that stops reading; it continues after a reconnect, and others are not affected', async () => {
    // more than all buffers between server and client hold, in a few large steps
    const long = 'x'.repeat(400_000);
    const steps = Array.from({ length: 40 }, (_s, i) => toolCall('look', { i }, long));
    const driver = DeterministicDriver.fromSteps(...steps, final('done'));
    const agent = builderWith(driver, mockTool('look', 'rows')).withMaxSteps(50).build();
    const runtime = runtimeOn(memoryPlace().open(), agent);
    const config = BroadcastConfig.standard({ frameBytes: 4_000_000 });
    const { live, url, open } = await served(runtime, { heartbeatMs: 200, config });
    const { id } = await runtime.create(ann);
    const quick = (await open(id)).follow();
    const stuck = tcp(Number(new URL(url).port), '127.0.0.1');
    stuck.pause().write(`GET /sessions/${id} HTTP/1.1\r\nhost: x\r\nx-user: ann\r\n\r\n`);
    await until(() => live.hub.counters.readers === 2);
    const { executionId } = await runtime.send(id, 'go', waiting);
    await until(() => quick.ends === 1);
    await until(() => live.hub.counters.slow === 1);
    expect(live.hub.counters.readers).toBe(1);
    let text = '';
    stuck.on('data', (data) => (text += String(data))).resume();
    await until(() => text.endsWith('0\r\n\r\n'));
    const ids = [...text.matchAll(/^id: (.*)$/gm)].map(([, each]) => each);
    const back = await open(id, { 'last-event-id': ids.at(-1) ?? '' });
    await back.until(() => back.ends === 1);
    const all = (await readAll(runtime, id)).map((seq) => `${seq}@${executionId}`);
    expect(ids.length).toBeLessThan(all.length);
    expect([...ids, ...back.events.flatMap((event) => event.id ?? [])]).toEqual(all);
    expect(quick.events.flatMap((event) => event.id ?? [])).toEqual(all);
    stuck.destroy();
  });

  it('ends all streams on close, so that the server can close', async () => {
    const runtime = runtimeOn(memoryPlace().open(), agentWith([final('done')]));
    const { live, server, open, url } = await served(runtime);
    const { id } = await runtime.create(ann);
    const clients = await Promise.all(Array.from({ length: 30 }, () => open(id)));
    for (const client of clients) client.follow();
    expect(live.hub.counters.readers).toBe(30);
    await live.close();
    await until(() => clients.every(({ isEnded }) => isEnded));
    const refused = await fetch(`${url}/sessions/${id}`, { headers: { 'x-user': 'ann' } });
    expect(refused.status).toBe(503);
    await refused.text();
    await new Promise((resolve) => server.close(resolve));
  });
});

async function readAll(
  runtime: Parameters<typeof readRefill>[0],
  id: string,
): Promise<(number | null)[]> {
  const seqs: (number | null)[] = [];
  for (let after = 0; ;) {
    const refill = await readRefill(runtime, id, { ...ann, after });
    seqs.push(...refill.envelopes.map(({ seq }) => seq));
    if (!refill.more) return seqs;
    after = refill.seq;
  }
}
