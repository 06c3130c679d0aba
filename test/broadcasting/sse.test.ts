import { AgentBuilder, AgentError, type SessionStore } from 'onward';
import { fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import {
  channelOf,
  readRefill,
  refEndpoint,
  refillEndpoint,
  sseEndpoint,
  sseHub,
  type Envelope,
  type Refill,
} from 'onward/broadcasting';
import { describe, expect, it } from 'vitest';
import {
  agentWith,
  ann,
  builderWith,
  followingDriver,
  gate,
  memoryPlace,
  runtimeOn,
  until,
  waiting,
} from '../setup/sessions.ts';
import { connect, liveOn, request, SseClient } from '../setup/sse.ts';

const { toolCall, final, stream } = ScenarioStep;
const channel = channelOf('s1');

type Loose = Partial<Record<keyof Envelope, unknown>> & { readonly agent_id?: string };

const envelope = (seq: number | null, more: Loose = {}): Envelope =>
  ({
    type: 'agent.step.started',
    session_id: 's1',
    execution_id: 'e1',
    agent_id: 'a1',
    seq,
    prev: seq === null ? null : seq - 1,
    timestamp: '2026-01-16T12:00:00.000Z',
    payload: { step: 1, message_count: 1, available_tools: [] },
    ...more,
  }) as Envelope;

const chunk = (index: number, content: string, more: Loose = {}): Envelope =>
  envelope(null, {
    type: 'agent.stream.chunk',
    payload: {
      message_id: 'm1',
      step: 1,
      attempt: 1,
      chunk_index: index,
      content,
      is_complete: false,
    },
    ...more,
  });

const contents = (client: SseClient): string[] =>
  client.envelopes.flatMap((one) => (one.type === 'agent.stream.chunk' ? one.payload.content : []));

describe('the bytes', () => {
  it('are those of the protocol, with an id only where there is a number', async () => {
    const hub = sseHub({ random: () => 0.5 });
    const client = new SseClient(await hub.open('s1'));
    await client.read();
    hub.broadcast(channel, envelope(1));
    hub.broadcastBatch([
      { channel, envelope: chunk(0, 'two\nlines\r and \u2028 more') },
      { channel: channelOf('other'), envelope: envelope(9) },
      { channel, envelope: envelope(2, { execution_id: 'mine: 50%\n' }) },
    ]);
    hub.close();
    await client.until(() => false);
    await expect(client.text).toMatchFileSnapshot('golden/sse-stream.txt');
    expect(client.isEnded).toBe(true);
    expect(client.events.map(({ id }) => id)).toEqual(['1@e1', null, '2@mine%3A%2050%25%0A']);
    expect(client.envelopes[1]).toEqual(chunk(0, 'two\nlines\r and \u2028 more'));
    expect(client.retryMs).toBe(2_000);
  });

  it('no name can begin a line of its own', async () => {
    const hub = sseHub();
    const client = new SseClient(await hub.open('s1'));
    await client.read();
    const bad = envelope(1, { type: 'agent.status\ndata: forged' });
    expect(() => hub.broadcast(channel, bad)).toThrow('expected a name such as agent.status');
    expect(() => hub.broadcastBatch([{ channel, envelope: bad }])).toThrow(/expected a name/);
    hub.broadcast(channel, envelope(2, { seq: '3\nid: 4' }));
    await client.read();
    expect(client.text).not.toContain('\nid: 4');
    expect(client.text).not.toContain('forged');
    hub.close();
  });

  it('each envelope is encoded once, however many read it', async () => {
    const hub = sseHub();
    const readers = await Promise.all(Array.from({ length: 20 }, () => hub.open('s1')));
    const clients = readers.map((body) => body.getReader());
    for (const client of clients) await client.read();
    let reads = 0;
    hub.broadcast(channel, {
      ...envelope(1),
      get payload() {
        reads += 1;
        return { step: 1, message_count: 1, available_tools: [] };
      },
    } as Envelope);
    const pieces = await Promise.all(clients.map((client) => client.read()));
    expect(reads).toBe(1);
    expect(new Set(pieces.map(({ value }) => value)).size).toBe(1);
    hub.close();
  });
});

describe('heartbeats', () => {
  it('come every 15 seconds to everybody, from one timer that ends with the last reader', async () => {
    const clock = fakeClock();
    const hub = sseHub({ clock, random: () => 0.5 });
    expect(clock.pendingTimers).toBe(0);
    const clients = await Promise.all(
      Array.from({ length: 50 }, async (_c, i) => new SseClient(await hub.open(`s${i % 5}`))),
    );
    expect(clock.pendingTimers).toBe(1);
    for (const client of clients) client.follow();
    await clock.advance(14_999);
    expect(clients[0]!.text).toBe('retry: 2000\n\n');
    await clock.advance(1);
    for (const client of clients) expect(client.text).toBe('retry: 2000\n\n: hb\n\n');
    await clock.advance(30_000);
    for (const client of clients) expect(client.text.match(/: hb/g)).toHaveLength(3);
    expect(clock.pendingTimers).toBe(1);
    for (const client of clients) await client.leave();
    expect(clock.pendingTimers).toBe(0);
    expect(hub.counters).toEqual({ readers: 0, sessions: 0, behind: 0, slow: 0, failed: 0 });
  });

  it('do not pile up for a client that does not read, and an answer that nobody reads is given up', async () => {
    const clock = fakeClock();
    const hub = sseHub({ clock, heartbeatMs: 10, random: () => 0.5 });
    const client = new SseClient(await hub.open('s1'));
    const unread = await hub.open('s1');
    await client.read();
    await clock.advance(20);
    expect(hub.counters.readers).toBe(2);
    await client.read();
    expect(client.text).toBe('retry: 2000\n\n: hb\n\n');
    await clock.advance(10);
    expect(hub.counters).toMatchObject({ readers: 1, slow: 1 });
    await expect(unread.getReader().read()).resolves.toMatchObject({ done: true });
    hub.close();
  });
});

describe('a reader that is too slow', () => {
  const long = 'x'.repeat(1_000);

  const chatty = (steps: number) =>
    builderWith(
      followingDriver([
        ...Array.from({ length: steps }, (_s, i) => toolCall('look', { i, long }, long)),
        final('done'),
      ]),
      mockTool('look', long),
    )
      .withMaxSteps(100)
      .build();

  it('goes on in the log at its own pace; what waits for it is bounded, the others see nothing of it', async () => {
    const runtime = runtimeOn(memoryPlace().open(), chatty(40));
    const live = liveOn(runtime, { bufferBytes: 8_192, pageSize: 20 });
    const { id } = await runtime.create(ann);
    const quick = (await connect(live, id)).follow();
    const slow = await connect(live, id);
    await slow.read();
    await runtime.send(id, 'go', waiting);
    const all = (await readRefill(runtime, id, ann)).envelopes;
    await until(() => quick.numbered.length === all.length);
    expect(live.hub.counters).toMatchObject({ readers: 2, slow: 0 });
    expect(live.hub.counters.behind).toBeGreaterThan(0);
    await slow.read();
    expect(slow.text.length).toBeLessThan(8_192 + 4_096);
    await slow.until(() => slow.ends === 1);
    expect(slow.numbered.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq));
    expect(quick.numbered.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq));
  });

  it('that takes nothing at all is let go, comes back and is complete', async () => {
    const clock = fakeClock();
    const runtime = runtimeOn(memoryPlace().open(), chatty(40));
    const live = liveOn(runtime, { bufferBytes: 8_192, clock });
    const { id } = await runtime.create(ann);
    const quick = (await connect(live, id)).follow();
    const stuck = await connect(live, id);
    await stuck.read();
    await runtime.send(id, 'go', waiting);
    await clock.advance(45_000);
    expect(live.hub.counters).toMatchObject({ readers: 2, slow: 0 });
    await clock.advance(15_000);
    expect(live.hub.counters).toMatchObject({ readers: 1, slow: 1 });
    await stuck.until(() => false);
    expect([stuck.isEnded, stuck.numbered]).toEqual([true, []]);
    const back = await connect(live, id, { lastEventId: stuck.lastId });
    await back.until(() => back.ends > 0);
    const all = (await readRefill(runtime, id, ann)).envelopes;
    expect(back.numbered).toEqual(all);
    expect(quick.numbered.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq));
    back.follow();
    await clock.advance(60_000);
    expect(live.hub.counters).toMatchObject({ readers: 2, slow: 1 });
  });

  it('hears of unfinished text what it has not heard', async () => {
    const log = { session_id: 's1', execution_id: 'e1', envelopes: [], seq: 1, more: false };
    const hub = sseHub({ bufferBytes: 2_000 });
    const slow = new SseClient(await hub.open('s1', { log: async () => log }));
    await slow.read();
    const texts = Array.from({ length: 30 }, (_t, i) => `word ${i} `);
    for (const [i, text] of texts.entries()) hub.broadcast(channel, chunk(i, text));
    expect(hub.counters.behind).toBe(1);
    await slow.until(() => contents(slow).length >= 30);
    expect(contents(slow)).toEqual(texts);
    hub.broadcast(channel, chunk(30, 'end'));
    await slow.until(() => contents(slow).length === 31);
    hub.close();
  });

  it('without a log to go on in, is let go at once', async () => {
    const hub = sseHub({ bufferBytes: 2_000 });
    const client = new SseClient(await hub.open('s1'));
    for (let i = 0; i < 30; i++) hub.broadcast(channel, envelope(i + 1));
    expect(hub.counters).toMatchObject({ readers: 0, slow: 1 });
    await client.until(() => false);
    expect(client.isEnded).toBe(true);
  });

  it('is not let go for what it asked for itself', async () => {
    const hub = sseHub({ bufferBytes: 1_024 });
    for (let i = 0; i < 100; i++) hub.broadcast(channel, chunk(i, long));
    const client = new SseClient(await hub.open('s1'));
    hub.broadcast(channel, chunk(100, 'more'));
    expect(hub.counters).toMatchObject({ readers: 1, slow: 0 });
    await client.until(() => contents(client).length === 101);
    hub.close();
  });

  it('for whom more comes while a page is read than is kept, reads on in the log', async () => {
    const hub = sseHub();
    const written = [envelope(1)];
    let reads = 0;
    const log = async ({ after }: { readonly after: number }): Promise<Refill> => {
      const envelopes = written.slice(after);
      const seq = written.length;
      reads += 1;
      while (reads === 1 && written.length < 401) {
        const next = envelope(written.length + 1);
        written.push(next);
        hub.broadcast(channel, next);
      }
      return { session_id: 's1', execution_id: 'e1', envelopes, seq, more: false };
    };
    const client = new SseClient(await hub.open('s1', { log }));
    await client.until(() => client.numbered.length >= 401);
    expect(client.numbered.map(({ seq }) => seq)).toEqual(written.map(({ seq }) => seq));
    expect(reads).toBe(2);
    hub.close();
  });

  it('that reads its refill slowly is read a page at a time', async () => {
    const runtime = runtimeOn(memoryPlace().open(), chatty(30));
    const { id } = await runtime.create(ann);
    await runtime.send(id, 'go', waiting);
    let reads = 0;
    const counting = new Proxy(runtime, {
      get(target, name) {
        if (name === 'events') reads += 1;
        const value = Reflect.get(target, name) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const clock = fakeClock();
    const live = liveOn(counting, { pageSize: 10, clock });
    const client = await connect(live, id);
    await clock.advance(10_000);
    expect(reads).toBe(1);
    await client.until(() => client.ends > 0);
    expect(reads).toBeGreaterThan(20);
  });
});

describe('a client that comes in the middle of an answer', () => {
  it('sees the text so far, and then the rest', async () => {
    const half = gate();
    const arrived = gate();
    const driver = followingDriver([final('unused')]);
    const agent = builderWith({
      ...driver,
      async *stream() {
        for (const text of ['All ', 'is ']) yield { type: 'content', text } as const;
        arrived.open();
        await half.passed;
        yield { type: 'content', text: 'well.' } as const;
        yield {
          type: 'done',
          response: { content: 'All is well.', toolCalls: [], finishReason: 'stop', usage: null },
        } as const;
      },
    }).build();
    const runtime = runtimeOn(memoryPlace().open(), agent);
    const live = liveOn(runtime);
    const { id } = await runtime.create(ann);
    const running = runtime.send(id, 'go', waiting);
    await arrived.passed;
    await until(() => live.hub.counters.sessions === 1);
    const client = await connect(live, id);
    await client.until(() => contents(client).length === 2);
    expect(client.envelopes.map(({ type }) => type)).toEqual([
      'agent.status',
      'agent.message',
      'agent.step.started',
      'agent.stream.chunk',
      'agent.stream.chunk',
    ]);
    // reload: another connection that goes on from the last number
    await client.leave();
    const again = await connect(live, id, { lastEventId: client.lastId });
    half.open();
    await again.until(() => again.ends > 0);
    expect(contents(again).join('')).toBe('All is well.');
    expect(again.envelopes.map(({ type }) => type).slice(0, 4)).toEqual([
      'agent.stream.chunk',
      'agent.stream.chunk',
      'agent.stream.chunk',
      'agent.stream.chunk',
    ]);
    await running;
    await again.leave();
    expect(live.hub.counters).toEqual({ readers: 0, sessions: 0, behind: 0, slow: 0, failed: 0 });
  });

  it('keeps what is being said by each agent until it is said, and nothing of what was', async () => {
    const hub = sseHub();
    const other = { agent_id: 'a2', parent_agent_id: 'a1' };
    hub.broadcast(channel, chunk(0, 'Let '));
    hub.broadcast(channel, chunk(0, 'nested', other));
    hub.broadcast(channel, chunk(1, 'me'));
    for (const args_delta of ['{"q', '":1'])
      hub.broadcast(
        channel,
        envelope(null, { type: 'agent.tool.delta', payload: { tool_call_id: 'c1', args_delta } }),
      );
    const first = new SseClient(await hub.open('s1'));
    await first.read();
    expect(contents(first)).toEqual(['Let ', 'me', 'nested']);
    expect(first.envelopes[1]).toEqual(chunk(1, 'me'));
    expect(first.envelopes[2]!.payload).toEqual({ tool_call_id: 'c1', args_delta: '{"q":1' });
    hub.broadcast(channel, envelope(4));
    const second = new SseClient(await hub.open('s1'));
    await second.read();
    expect(contents(second)).toEqual(['nested']);
    // another try at the same message, of which the beginning was not heard
    hub.broadcast(channel, chunk(3, 'late'));
    const third = new SseClient(await hub.open('s1'));
    await third.read();
    expect(contents(third)).toEqual(['nested']);
    for (const client of [first, second, third]) await client.leave();
    expect(hub.counters.sessions).toBe(1);
    hub.broadcast(channel, {
      ...envelope(5),
      type: 'agent.status',
      payload: { status: 'completed', previous_status: 'processing', step_count: 1 },
    });
    expect(hub.counters.sessions).toBe(0);
  });

  it('what is kept is bounded, for each session and for all', async () => {
    const hub = sseHub();
    const text = 'x'.repeat(10_000);
    for (let i = 0; i < 100; i++) hub.broadcast(channel, chunk(i, text));
    const client = new SseClient(await hub.open('s1'));
    await client.read();
    expect(contents(client)).toHaveLength(26);
    for (let s = 0; s < 2_000; s++)
      for (let i = 0; i < 3; i++) hub.broadcast(channelOf(`o${s}`), chunk(i, text));
    const { sessions } = hub.counters;
    expect(sessions).toBeGreaterThan(1_000);
    expect(sessions).toBeLessThan(1_200);
    hub.close();
  });
});

describe('who may read', () => {
  const set = async () => {
    const runtime = runtimeOn(memoryPlace().open(), agentWith([final('done')]));
    const { id } = await runtime.create(ann);
    return { runtime, id, live: liveOn(runtime) };
  };

  it('a session of somebody else is not found, word for word as one that does not exist', async () => {
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

  it('nobody is 401, and the hook may answer itself', async () => {
    const { runtime, id, live } = await set();
    expect((await live(new Request('http://localhost/'), id)).status).toBe(401);
    const closed = sseEndpoint({ runtime, owner: () => new Response('no', { status: 403 }) });
    expect((await closed(request(id), id)).status).toBe(403);
    const broken = sseEndpoint({ runtime, owner: () => Promise.reject(new Error('database')) });
    await expect(broken(request(id), id)).rejects.toThrow('database');
  });

  it('the id may stand in the query; headers are those of a stream', async () => {
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

  it('a store that fails is 503 without a word of it, and a full hub too', async () => {
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

describe('ends', () => {
  it('a client that goes stops nothing: by signal, by cancel, before and after the answer', async () => {
    const asked = gate();
    const slow = mockTool('look', () => asked.passed.then(() => 'rows'));
    const runtime = runtimeOn(
      memoryPlace().open(),
      agentWith([toolCall('look'), final('done')], slow),
    );
    const live = liveOn(runtime);
    const { id } = await runtime.create(ann);
    const running = runtime.send(id, 'go', waiting);
    const leaving = new AbortController();
    const bySignal = await connect(live, id, { signal: leaving.signal });
    const byCancel = await connect(live, id);
    await bySignal.read();
    expect(live.hub.counters.readers).toBe(2);
    leaving.abort();
    await byCancel.leave();
    await bySignal.until(() => false);
    const early = await live(request(id, { signal: AbortSignal.abort() }), id);
    expect(early.status).toBe(499);
    expect(live.hub.counters).toMatchObject({ readers: 0, sessions: 0 });
    asked.open();
    expect((await running).status).toBe('completed');
  });

  it('a thousand clients that come and go leave nothing behind', async () => {
    const clock = fakeClock();
    const runtime = runtimeOn(memoryPlace().open(), agentWith([final('done')]));
    const live = liveOn(runtime, { clock });
    const { id } = await runtime.create(ann);
    for (let round = 0; round < 10; round++) {
      const clients = await Promise.all(Array.from({ length: 100 }, () => connect(live, id)));
      expect(live.hub.counters).toMatchObject({ readers: 100, sessions: 1 });
      // one for the heartbeats, one for the log
      expect(clock.pendingTimers).toBe(2);
      for (const client of clients) await client.leave();
    }
    expect(live.hub.counters).toEqual({ readers: 0, sessions: 0, behind: 0, slow: 0, failed: 0 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('a session that is deleted ends its streams, and the next try is 404', async () => {
    const clock = fakeClock();
    const runtime = runtimeOn(memoryPlace().open(), agentWith([final('done')]));
    const live = liveOn(runtime, { clock });
    const { id } = await runtime.create(ann);
    const client = (await connect(live, id)).follow();
    await runtime.delete(id, ann);
    await clock.advance(2_000);
    await until(() => client.isEnded);
    expect((await live(request(id), id)).status).toBe(404);
    expect(clock.pendingTimers).toBe(0);
  });

  it('500 readers of one session all get all of it', async () => {
    const steps = Array.from({ length: 5 }, (_s, i) => toolCall('look', { i }, 'looking'));
    const agent = agentWith([...steps, stream(['All ', 'done.'])], mockTool('look'));
    const runtime = runtimeOn(memoryPlace().open(), agent);
    const live = liveOn(runtime);
    const { id } = await runtime.create(ann);
    const clients = await Promise.all(Array.from({ length: 500 }, () => connect(live, id)));
    for (const client of clients) client.follow();
    await runtime.send(id, 'go', waiting);
    await until(() => clients.every(({ ends }) => ends === 1));
    const all = (await readRefill(runtime, id, ann)).envelopes;
    for (const client of clients) {
      expect(client.numbered).toEqual(all);
      expect(contents(client).join('')).toContain('All done.');
    }
    expect(live.hub.counters).toMatchObject({ readers: 500, sessions: 1, slow: 0 });
  });
});

describe('requests beside the stream', () => {
  it('a refill and a value that was cut, for those who may', async () => {
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

it('D43: a secret in arguments, results and text is in no byte of a stream or refill', async () => {
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
