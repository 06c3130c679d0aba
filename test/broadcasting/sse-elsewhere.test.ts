import { AgentError } from 'onward';
import { mockTool, ScenarioStep, fakeClock } from 'onward/testing';
import { readRefill, type Envelope } from 'onward/broadcasting';
import { describe, expect, it } from 'vitest';
import {
  ann,
  builderWith,
  clientOn,
  followingDriver,
  gate,
  memoryPlace,
  places,
  runtimeOn,
  until,
  waiting,
} from '../setup/sessions.ts';
import { connect, liveOn } from '../setup/sse.ts';

const { toolCall, final } = ScenarioStep;
const turns = [
  [toolCall('look', {}, 'one'), final('first')],
  [final('second')],
  [final('third')],
] as const;
const agent = (tool = mockTool('look')) => builderWith(followingDriver(...turns), tool).build();

describe.each(places)('a session that runs in another process (%s)', (_name, makePlace) => {
  it('delivers each envelope once through the log', async () => {
    const place = makePlace();
    const worker = runtimeOn(place.open(), agent());
    const web = clientOn(place.open(), agent());
    const live = liveOn(web, { tail: { busyMs: 5, idleMs: 10 } });
    const { id } = await web.create(ann);
    const clients = await Promise.all([connect(live, id), connect(live, id)]);
    for (const client of clients) client.follow();
    const expected: Envelope[] = [];
    for (const text of ['a', 'b', 'c']) {
      await worker.send(id, text, waiting);
      expected.push(...(await readRefill(web, id, ann)).envelopes);
      await until(() => clients.every(({ numbered }) => numbered.length === expected.length));
    }
    for (const client of clients) expect(client.numbered).toEqual(expected);
    const kinds = clients[0].events.map(({ event }) => event);
    expect(kinds).not.toContain('onward.reset');
    expect(live.hub.counters).toMatchObject({ readers: 2, slow: 0, failed: 0 });
  });

  it('stays in order when it moves between processes', async () => {
    const place = makePlace();
    const pay = mockTool('look', 'paid', { needsApproval: true });
    const here = runtimeOn(place.open(), agent(pay));
    const there = runtimeOn(place.open(), agent(pay));
    const live = liveOn(here, { tail: { busyMs: 5, idleMs: 10 } });
    const { id } = await here.create(ann);
    const client = (await connect(live, id)).follow();
    const paused = await here.send(id, 'a', waiting);
    await there.approve(id, paused.pendingApprovals[0]!.callId, waiting);
    const first = (await readRefill(here, id, ann)).envelopes;
    await until(() => client.numbered.length === first.length);
    await here.send(id, 'b', waiting);
    const second = (await readRefill(here, id, ann)).envelopes;
    await until(() => client.numbered.length === first.length + second.length);
    expect(client.numbered.map(({ seq }) => seq)).toEqual(
      [...first, ...second].map(({ seq }) => seq),
    );
  });
});

describe('polling of the log', () => {
  const counted = async (tool = mockTool('look')) => {
    const clock = fakeClock();
    const place = memoryPlace();
    const worker = runtimeOn(place.open(), agent(tool));
    const store = place.open();
    let polls = 0;
    const find: typeof store.find = (id) => {
      polls += 1;
      return store.find(id);
    };
    const web = clientOn({ ...store, find }, agent());
    const live = liveOn(web, { clock });
    const { id } = await web.create(ann);
    return { clock, worker, live, id, polls: () => polls };
  };

  it('runs every 2 seconds for an idle session, once for all readers and not without readers', async () => {
    const { clock, live, id, polls } = await counted();
    const clients = await Promise.all(Array.from({ length: 20 }, () => connect(live, id)));
    for (const client of clients) client.follow();
    const before = polls();
    await clock.advance(10_000);
    expect(polls() - before).toBe(5);
    for (const client of clients) await client.leave();
    await clock.advance(10_000);
    expect(polls() - before).toBe(5);
  });

  it.each([false, true])(
    'runs every 250 ms while another process runs the session (reconnect: %s)',
    async (isBack) => {
      const hold = gate();
      const { clock, worker, live, id, polls } = await counted(
        mockTool('look', () => hold.passed.then(() => 'rows')),
      );
      const running = worker.send(id, 'a', waiting);
      await until(async () => (await worker.events(id, ann)).events.length > 5);
      const { seq, executionId } = await worker.events(id, ann);
      const lastEventId = isBack ? `${seq}@${executionId}` : null;
      const client = (await connect(live, id, { lastEventId })).follow();
      const before = polls();
      await clock.advance(2_000);
      expect(polls() - before).toBe(8);
      hold.open();
      await running;
      await clock.advance(250);
      expect(client.ends).toBe(1);
      const after = polls();
      await clock.advance(4_000);
      expect(polls() - after).toBe(2);
    },
  );

  it('runs every 2 seconds while this process runs the session, and immediately on wake()', async () => {
    const hold = gate();
    const clock = fakeClock();
    const place = memoryPlace();
    const store = place.open();
    let polls = 0;
    const find: typeof store.find = (id) => {
      polls += 1;
      return store.find(id);
    };
    const slow = mockTool('look', () => hold.passed.then(() => 'rows'));
    const runtime = runtimeOn({ ...store, find }, agent(slow));
    const live = liveOn(runtime, { clock });
    const { id } = await runtime.create(ann);
    const client = (await connect(live, id)).follow();
    await runtime.send(id, 'a', ann);
    await until(() => client.envelopes.some(({ type }) => type === 'agent.tool.started'));
    const before = polls;
    await clock.advance(4_000);
    expect(polls - before).toBe(2);
    live.hub.wake(id);
    await until(() => polls - before === 3);
    hold.open();
    await until(() => client.ends === 1);
  });

  it('continues after temporary store errors', async () => {
    const clock = fakeClock();
    const place = memoryPlace();
    const worker = runtimeOn(place.open(), agent());
    const store = place.open();
    let isBroken = false;
    const find: typeof store.find = (id) =>
      isBroken ? Promise.reject(new AgentError('store_failed', 'away')) : store.find(id);
    const live = liveOn(clientOn({ ...store, find }, agent()), { clock });
    const { id } = await worker.create(ann);
    const client = (await connect(live, id)).follow();
    isBroken = true;
    await worker.send(id, 'a', waiting);
    await clock.advance(6_000);
    expect(live.hub.counters).toMatchObject({ readers: 1, failed: 3 });
    isBroken = false;
    await clock.advance(2_000);
    expect(client.numbered).toEqual((await readRefill(worker, id, ann)).envelopes);
  });
});
