import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AgentBuilder, AgentError } from 'onward';
import type { SessionStore } from 'onward/stores';
import { mockTool, ScenarioStep } from 'onward/testing';
import {
  readRefill,
  refEndpoint,
  refillEndpoint,
  sseEndpoint,
  type Refill,
} from 'onward/broadcasting';
import { describe, expect, it } from 'vitest';
import {
  agentWith,
  ann,
  followingDriver,
  memoryPlace,
  runtimeOn,
  until,
  waiting,
} from '../setup/sessions.ts';
import { connect, liveOn, request } from '../setup/sse.ts';

const { toolCall, final } = ScenarioStep;

it('releases a client that disconnects after its request was garbage-collected', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const runtime = runtimeOn(memoryPlace().open(), agentWith([final('done')]));
  const { id } = await runtime.create(ann);
  const live = sseEndpoint({ runtime, owner: () => 'ann' });
  const gone = new AbortController();
  await live(new Request('http://localhost/', { signal: gone.signal }), id);
  // objects of the current turn of the event loop are not collected
  await setImmediate();
  collect();
  gone.abort();
  expect(live.hub.counters).toMatchObject({ readers: 0 });
  await live.close();
});

describe('sseEndpoint', () => {
  const set = async () => {
    const runtime = runtimeOn(memoryPlace().open(), agentWith([final('done')]));
    const { id } = await runtime.create(ann);
    return { runtime, id, live: liveOn(runtime) };
  };

  it('answers the same 404 for a session of another owner and a missing one', async () => {
    const { id, live } = await set();
    const foreign = await live(request(id, { user: 'bob' }), id);
    const missing = await live(request(id), id.replace(/./g, '0'));
    expect([foreign.status, missing.status]).toEqual([404, 404]);
    const [a, b] = [await foreign.text(), await missing.text()];
    expect(a.replace(id, '')).toBe(b.replace(id.replace(/./g, '0'), ''));
    expect(foreign.headers.get('content-type')).toContain('application/json');
    expect((await live(request(id), '../../etc\r\nx: y')).status).toBe(404);
    expect(live.hub.counters).toMatchObject({ readers: 0, sessions: 0 });
  });

  it('answers 401 without sign-in, and the hook may respond itself', async () => {
    const { runtime, id, live } = await set();
    expect((await live(new Request('http://localhost/'), id)).status).toBe(401);
    const closed = sseEndpoint({ runtime, owner: () => new Response('no', { status: 403 }) });
    expect((await closed(request(id), id)).status).toBe(403);
    const broken = sseEndpoint({ runtime, owner: () => Promise.reject(new Error('database')) });
    await expect(broken(request(id), id)).rejects.toThrow('database');
  });

  it('reads the session id from the query and sends the headers of a stream', async () => {
    const { runtime, id } = await set();
    const live = sseEndpoint({ runtime, owner: () => 'ann', headers: { 'x-own': 'yes' } });
    const response = await live(new Request(`http://localhost/live?session_id=${id}`));
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-own': 'yes',
    });
    await live.close();
    expect((await live(request(id), id)).status).toBe(503);
  });

  it('answers 503 without details if the store fails, and if the hub is full', async () => {
    let isBroken = false;
    const store = memoryPlace().open();
    const failing: SessionStore = {
      ...store,
      find: (id) =>
        isBroken
          ? Promise.reject(new AgentError('store_failed', 'disk /var/lib/secret is gone'))
          : store.find(id),
    };
    const runtime = runtimeOn(failing, agentWith([final('done')]));
    const { id } = await runtime.create(ann);
    const live = liveOn(runtime, { maxReaders: 1 });
    isBroken = true;
    const broken = await live(request(id), id);
    expect(broken.status).toBe(503);
    expect(await broken.text()).not.toContain('disk');
    isBroken = false;
    const client = await connect(live, id);
    const full = await live(request(id), id);
    expect([full.status, full.headers.get('retry-after')]).toEqual([503, '2']);
    await client.leave();
    expect((await connect(live, id)).isEnded).toBe(false);
  });
});

describe('refillEndpoint and refEndpoint', () => {
  it('return a refill and a truncated value to the owner only', async () => {
    const long = 'word '.repeat(5_000);
    const runtime = runtimeOn(
      memoryPlace().open(),
      agentWith([toolCall('look'), final('done')], mockTool('look', long)),
    );
    const { id } = await runtime.create(ann);
    await runtime.send(id, 'go', waiting);
    const owner = ({ headers }: Request): string | null => headers.get('x-user');
    const refill = refillEndpoint({ runtime, owner });
    const whole = (await (await refill(request(id), id)).json()) as Refill;
    expect(whole).toEqual(await readRefill(runtime, id, ann));
    const place = `${whole.envelopes[1]!.seq}@${whole.execution_id}`;
    const rest = (await (
      await refill(request(id, { query: `?after=${place}` }), id)
    ).json()) as Refill;
    expect(rest.envelopes.map(({ seq }) => seq)).toEqual(
      whole.envelopes.slice(2).map(({ seq }) => seq),
    );
    expect((await refill(request(id, { user: 'bob' }), id)).status).toBe(404);
    expect((await refill(request(id, { query: '?after=x' }), id)).status).toBe(400);

    const cut = whole.envelopes.find(({ type }) => type === 'agent.tool.completed')!;
    const { result_summary: summary } = cut.payload as { result_summary: { ref: string } };
    const value = refEndpoint({ runtime, owner });
    const asked = { query: `?ref=${encodeURIComponent(summary.ref)}` };
    expect(await (await value(request(id, asked), id)).json()).toEqual({
      ref: summary.ref,
      value: long,
    });
    expect((await value(request(id, { ...asked, user: 'bob' }), id)).status).toBe(404);
    expect((await value(request(id), id)).status).toBe(400);
  });
});

it('D43: the stream contains no secret of arguments and results, live or from the log', async () => {
  const secret = 'sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c';
  const agent = AgentBuilder.base()
    .withName('support')
    .withDriver(
      followingDriver([
        toolCall('look', { password: secret, note: `Bearer ${secret}` }),
        final('done'),
      ]),
    )
    .withTools(mockTool('look', { api_key: secret, text: `the key is ${secret}` }))
    .build();
  const runtime = runtimeOn(memoryPlace().open(), agent);
  const live = liveOn(runtime);
  const { id } = await runtime.create(ann);
  const during = (await connect(live, id)).follow();
  await runtime.send(id, 'go', waiting);
  await until(() => during.ends === 1);
  const after = await connect(live, id);
  await after.until(() => after.ends === 1);
  expect(during.text).toContain('agent.tool.delta');
  for (const { text } of [during, after]) expect(text).not.toContain(secret);
});
