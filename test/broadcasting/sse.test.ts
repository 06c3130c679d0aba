import { fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { channelOf, readRefill, sseHub, type Envelope } from 'onward/broadcasting';
import { describe, expect, it } from 'vitest';
import { speaking } from '../setup/following.ts';
import {
  ann,
  builderWith,
  followingDriver,
  gate,
  memoryPlace,
  runtimeOn,
  until,
  waiting,
} from '../setup/sessions.ts';
import { connect, liveOn, SseClient } from '../setup/sse.ts';
import { channel, chunk, contents, envelope } from './sse-samples.ts';

const { toolCall, final } = ScenarioStep;

describe('the encoding', () => {
  it('follows the SSE protocol, with an id only for numbered envelopes', async () => {
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

  it('lets no type or number start a new line', async () => {
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

  it('encodes each envelope once for all readers', async () => {
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
  it('are sent to all readers every 15 seconds by one timer, which ends with the last reader', async () => {
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

  it('do not accumulate for a client that does not read, and an unread response is closed', async () => {
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

describe('a slow reader', () => {
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

  it('continues from the log with a limited buffer and does not delay others', async () => {
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

  it('is disconnected if it reads nothing, and gets everything after a reconnect', async () => {
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

  it('gets missed unfinished text once', async () => {
    const [said, hold] = [gate(), gate()];
    const words = Array.from({ length: 60 }, (_w, i) => `word ${i} `);
    const pieces = ['Well: ', said, ...words, hold, 'end.'];
    const runtime = runtimeOn(memoryPlace().open(), builderWith(speaking(pieces)).build());
    const live = liveOn(runtime, { bufferBytes: 2_000 });
    const { id } = await runtime.create(ann);
    const quick = (await connect(live, id)).follow();
    const slow = await connect(live, id);
    const running = runtime.send(id, 'go', waiting);
    const textOf = (client: SseClient): string => contents(client).join('');
    await slow.until(() => textOf(slow) === 'Well: ');
    said.open();
    const soFar = `Well: ${words.join('')}`;
    await until(() => textOf(quick) === soFar);
    expect(live.hub.counters).toMatchObject({ readers: 2, behind: 1, slow: 0 });
    await slow.read();
    const first = textOf(slow);
    expect(first.length).toBeLessThan(soFar.length);
    // the buffer is read: the rest comes from the worker, because the log does not have it yet
    await slow.until(() => textOf(slow).length >= soFar.length);
    expect(textOf(slow)).toBe(soFar);
    hold.open();
    await running;
    await slow.until(() => slow.ends === 1);
    await until(() => quick.ends === 1);
    expect([textOf(slow), textOf(quick)]).toEqual([`${soFar}end.`, `${soFar}end.`]);
    expect(slow.numbered).toEqual(quick.numbered);
  });

  it('is disconnected immediately if there is no log', async () => {
    const hub = sseHub({ bufferBytes: 2_000 });
    const client = new SseClient(await hub.open('s1'));
    for (let i = 0; i < 30; i++) hub.broadcast(channel, envelope(i + 1));
    expect(hub.counters).toMatchObject({ readers: 0, slow: 1 });
    await client.until(() => false);
    expect(client.isEnded).toBe(true);
  });

  it('is not disconnected because of a large initial text', async () => {
    const hub = sseHub({ bufferBytes: 1_024 });
    for (let i = 0; i < 100; i++) hub.broadcast(channel, chunk(i, long));
    const client = new SseClient(await hub.open('s1'));
    hub.broadcast(channel, chunk(100, 'more'));
    expect(hub.counters).toMatchObject({ readers: 1, slow: 0 });
    await client.until(() => contents(client).length === 101);
    hub.close();
  });

  it('causes one log read at a time when it reads its refill', async () => {
    const store = memoryPlace().open();
    let reads = 0;
    const events: typeof store.events = (...query) => {
      reads += 1;
      return store.events(...query);
    };
    const runtime = runtimeOn({ ...store, events }, chatty(30));
    const { id } = await runtime.create(ann);
    await runtime.send(id, 'go', waiting);
    reads = 0;
    const clock = fakeClock();
    const live = liveOn(runtime, { pageSize: 10, clock });
    const client = await connect(live, id);
    await clock.advance(10_000);
    expect(reads).toBeLessThan(5);
    await client.until(() => client.ends > 0);
    expect(reads).toBeGreaterThan(20);
  });
});
