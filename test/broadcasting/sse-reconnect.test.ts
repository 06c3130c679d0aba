import type { Tool } from 'onward';
import { ScenarioStep, mockTool } from 'onward/testing';
import { BroadcastConfig, readRefill, type Envelope } from 'onward/broadcasting';
import { describe, expect, it } from 'vitest';
import { mortal } from '../setup/mortal-store.ts';
import {
  agentWith,
  ann,
  builderWith,
  followingDriver,
  memoryPlace,
  places,
  runtimeOn,
  waiting,
} from '../setup/sessions.ts';
import { connect, isEnd, liveOn, SseClient } from '../setup/sse.ts';

const { toolCall, toolCalls, final, stream } = ScenarioStep;
const names = (envelopes: readonly Envelope[]): string[] =>
  envelopes.map(({ execution_id, seq }) => `${seq}@${execution_id}`);
const presets = ['minimal', 'standard', 'debug'] as const;

/** Checks that a client gets every number once, in order and without a gap. */
function isWhole(envelopes: readonly Envelope[], expected: readonly Envelope[]): void {
  expect(names(envelopes)).toEqual(names(expected));
  let known = 0;
  let executionId = '';
  for (const { execution_id, seq, prev } of envelopes) {
    if (execution_id !== executionId) known = 0;
    executionId = execution_id;
    expect(prev).toBeLessThanOrEqual(known);
    known = seq ?? known;
  }
}

const script = [
  toolCalls([{ name: 'look', args: { q: 1 } }, { name: 'look' }], 'let me look'),
  toolCall('look', { q: 2 }),
  stream(['All ', 'is ', 'well.']),
];

describe.each(places)('a client that reconnects (%s)', (_name, makePlace) => {
  it.each(presets)('gets every numbered envelope once from any position (%s)', async (name) => {
    const config = BroadcastConfig[name]();
    const runtime = runtimeOn(makePlace().open(), agentWith(script, mockTool('look', 'rows')));
    const { id } = await runtime.create(ann);
    await runtime.send(id, 'go', waiting);
    const all = (await readRefill(runtime, id, { ...ann, config })).envelopes;
    for (const pageSize of [1, 3, 200]) {
      const live = liveOn(runtime, { config, pageSize });
      for (let cut = 0; cut <= all.length; cut++) {
        const seen = all.slice(0, cut);
        const lastEventId = names(seen).at(-1) ?? null;
        const client = await connect(live, id, { lastEventId });
        await client.until(() => client.numbered.length === all.length - cut);
        isWhole([...seen, ...client.numbered], all);
        await client.leave();
      }
    }
  });
});

it('a client misses nothing after many disconnects during a run', async () => {
  const steps = Array.from({ length: 30 }, (_s, i) => toolCall('look', { q: i }, `step ${i}`));
  const agent = builderWith(followingDriver([...steps, final('done')]), mockTool('look'))
    .withMaxSteps(50)
    .build();
  const runtime = runtimeOn(memoryPlace().open(), agent);
  const live = liveOn(runtime, { pageSize: 5 });
  const { id } = await runtime.create(ann);
  const running = runtime.send(id, 'go', waiting);
  const seen: Envelope[] = [];
  let lastEventId: string | null = null;
  let connections = 0;
  while (!seen.some(isEnd)) {
    const client = await connect(live, id, { lastEventId });
    connections += 1;
    const most = 1 + (connections % 7);
    await client.until(() => client.numbered.length >= most || client.ends > 0);
    await client.leave();
    seen.push(...client.numbered);
    lastEventId = client.lastId ?? lastEventId;
  }
  await running;
  isWhole(seen, (await readRefill(runtime, id, ann)).envelopes);
  expect(connections).toBeGreaterThan(10);
  expect(live.hub.counters).toEqual({ readers: 0, sessions: 0, behind: 0, slow: 0, failed: 0 });
});

it('a client continues at its position in another process after a crash', async () => {
  const place = memoryPlace();
  const make = (tool: Tool) =>
    builderWith(followingDriver([toolCall('look'), toolCall('look'), final('done')]), tool);
  let calls = 0;
  const stuck = mockTool('look', () => (++calls === 2 ? new Promise(() => {}) : 'rows'), {
    idempotent: true,
  });
  const lease = { leaseMs: 300, heartbeatMs: 100, signalMs: 100 };
  const victim = mortal(place.open());
  const first = runtimeOn(victim.store, make(stuck).build(), { lease });
  const { id } = await first.create(ann);
  const live = liveOn(first);
  const before = await connect(live, id);
  void first.send(id, 'go', ann);
  await before.until(
    () => before.envelopes.filter(({ type }) => type === 'agent.tool.started').length === 2,
  );
  victim.die();

  const second = runtimeOn(
    place.open(),
    make(mockTool('look', 'rows', { idempotent: true })).build(),
    {
      lease,
    },
  );
  const liveAgain = liveOn(second, { tail: { busyMs: 20, idleMs: 50 } });
  const after = await connect(liveAgain, id, { lastEventId: before.lastId });
  second.start();
  await after.until(() => after.ends > 0);
  const all = (await readRefill(second, id, ann)).envelopes;
  isWhole([...before.numbered, ...after.numbered], all);
});

describe('a client with an older execution', () => {
  const twoTurns = async () => {
    const agent = builderWith(
      followingDriver([toolCall('look'), final('one')], [final('two')], [final('three')]),
      mockTool('look'),
    ).build();
    const runtime = runtimeOn(memoryPlace().open(), agent);
    const { id } = await runtime.create(ann);
    return { runtime, id };
  };

  it('gets the rest of it and then all later executions', async () => {
    const { runtime, id } = await twoTurns();
    const first = await runtime.send(id, 'a', waiting);
    const old = (await readRefill(runtime, id, ann)).envelopes;
    await runtime.send(id, 'b', waiting);
    const between = (await readRefill(runtime, id, ann)).envelopes;
    await runtime.send(id, 'c', waiting);
    const newest = [...between, ...(await readRefill(runtime, id, ann)).envelopes];
    const live = liveOn(runtime, { pageSize: 4 });
    for (let cut = 1; cut <= old.length; cut++) {
      const client = await connect(live, id, { lastEventId: names(old.slice(0, cut)).at(-1)! });
      await client.until(() => client.numbered.length === old.length - cut + newest.length);
      expect(client.events.map(({ event }) => event)).not.toContain('onward.reset');
      isWhole([...old.slice(0, cut), ...client.numbered], [...old, ...newest]);
      expect(client.numbered[0]!.execution_id === first.executionId).toBe(cut < old.length);
      await client.leave();
    }
  });

  it('gets a reset and the newest execution for an unknown or invalid id', async () => {
    const { runtime, id } = await twoTurns();
    await runtime.send(id, 'a', waiting);
    const newest = (await readRefill(runtime, id, ann)).envelopes;
    const live = liveOn(runtime);
    for (const lastEventId of ['7@no-such-execution', 'rubbish', '%', '5@%E0%A4%A', '-1', '1e3']) {
      const client = await connect(live, id, { lastEventId });
      await client.until(() => client.numbered.length === newest.length);
      expect(client.events[0]?.event).toBe('onward.reset');
      isWhole(client.numbered, newest);
      await client.leave();
    }
  });

  it('gets later executions without a reset while it stays connected', async () => {
    const { runtime, id } = await twoTurns();
    const live = liveOn(runtime);
    const client = await connect(live, id);
    client.follow();
    const expected: Envelope[] = [];
    for (const text of ['a', 'b', 'c']) {
      await runtime.send(id, text, waiting);
      expected.push(...(await readRefill(runtime, id, ann)).envelopes);
    }
    await until(client, expected.length);
    isWhole(client.numbered, expected);
    expect(client.events.filter(({ event }) => event === 'onward.reset')).toEqual([]);
  });

  it('may send its position in the URL, with only a number for the newest execution', async () => {
    const { runtime, id } = await twoTurns();
    await runtime.send(id, 'a', waiting);
    const all = (await readRefill(runtime, id, ann)).envelopes;
    const live = liveOn(runtime);
    const third = all[2]!;
    for (const query of [`?last_event_id=${names(all)[2]}`, `?after=${third.seq}`]) {
      const client = await connect(live, id, { query });
      await client.until(() => client.numbered.length === all.length - 3);
      isWhole([...all.slice(0, 3), ...client.numbered], all);
      await client.leave();
    }
  });

  it('continues an execution with any id', async () => {
    const { runtime, id } = await twoTurns();
    const live = liveOn(runtime);
    await runtime.send(id, 'a', { ...waiting, executionId: 'order 7: 50% (ü) 4@home' });
    const all = (await readRefill(runtime, id, ann)).envelopes;
    const client = await connect(live, id);
    await client.until(() => client.numbered.length >= 3);
    const third = client.events.filter((event) => event.id !== null)[2]!;
    const back = await connect(live, id, { lastEventId: third.id });
    await back.until(() => back.ends === 1);
    expect(back.events[0]?.event).not.toBe('onward.reset');
    isWhole([...all.slice(0, 3), ...back.numbered], all);
  });

  it('gets a reset if its position was pruned', async () => {
    const { runtime, id } = await twoTurns();
    await runtime.send(id, 'a', waiting);
    const all = (await readRefill(runtime, id, ann)).envelopes;
    await runtime.prune({ olderThan: new Date(Date.now() + 60_000) });
    expect((await readRefill(runtime, id, ann)).envelopes).toEqual([]);
    const live = liveOn(runtime);
    const client = await connect(live, id, { lastEventId: names(all)[1]! });
    await client.until(() => client.events.length > 0);
    expect(client.events.map(({ event }) => event)).toEqual(['onward.reset']);
    const atEnd = await connect(live, id, { lastEventId: names(all).at(-1)! });
    await atEnd.read();
    expect(atEnd.events).toEqual([]);
  });
});

async function until(client: SseClient, count: number): Promise<void> {
  while (client.numbered.length < count) await new Promise((resolve) => setTimeout(resolve, 2));
}
