import { fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { channelOf, readRefill, sseHub } from 'onward/broadcasting';
import { describe, expect, it } from 'vitest';
import {
  agentWith,
  ann,
  builderWith,
  followingDriver,
  gate,
  receiving,
  memoryPlace,
  runtimeOn,
  until,
  waiting,
} from '../setup/sessions.ts';
import { connect, liveOn, request, SseClient } from '../setup/sse.ts';
import { channel, chunk, contents, envelope } from './sse-samples.ts';

const { toolCall, final, stream } = ScenarioStep;

describe('a client that connects during an answer', () => {
  it('gets the text so far and then the rest', async () => {
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
    const received = receiving(runtime);
    const { id } = await runtime.create(ann);
    const running = runtime.send(id, 'go', waiting);
    await arrived.passed;
    await until(() => received.filter(({ event }) => event.type === 'StreamChunk').length === 2);
    const client = await connect(live, id);
    await client.until(() => contents(client).length === 2);
    expect(client.envelopes.map(({ type }) => type)).toEqual([
      'agent.status',
      'agent.message',
      'agent.step.started',
      'agent.stream.chunk',
      'agent.stream.chunk',
    ]);
    // a reload: a new connection that continues after the last number
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

  it('gets the unfinished text of each agent, and no finished text', async () => {
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
    // another attempt of the same message without its start
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

  it('gets a limited amount of text, with a limit for each session and for all', async () => {
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

describe('disconnects', () => {
  it('by signal and by cancel do not stop the run', async () => {
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

  it('of a thousand clients leave no reader, session or timer', async () => {
    const clock = fakeClock();
    const runtime = runtimeOn(memoryPlace().open(), agentWith([final('done')]));
    const live = liveOn(runtime, { clock });
    const { id } = await runtime.create(ann);
    for (let round = 0; round < 10; round++) {
      const clients = await Promise.all(Array.from({ length: 100 }, () => connect(live, id)));
      expect(live.hub.counters).toMatchObject({ readers: 100, sessions: 1 });
      // one for heartbeats, one for polling the log
      expect(clock.pendingTimers).toBe(2);
      for (const client of clients) await client.leave();
    }
    expect(live.hub.counters).toEqual({ readers: 0, sessions: 0, behind: 0, slow: 0, failed: 0 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('follow the deletion of a session, and the next request gets 404', async () => {
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

  it('delivers all envelopes to 500 readers of one session', async () => {
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
