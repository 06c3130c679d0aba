import { SessionRuntime } from 'onward';
import type { SessionStore } from 'onward/stores';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { endsIn, followerOf, hasEnded, numberedIn, speaking, textIn } from '../setup/following.ts';
import {
  agentWith,
  ann,
  builderWith,
  callIds,
  clientOn,
  codeOf,
  followingDriver,
  gate,
  memoryPlace,
  pause,
  places,
  runtimeOn,
  until,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;

const nextTurn = {
  get passed(): Promise<void> {
    return new Promise((resolve) => {
      setImmediate(resolve);
    });
  },
};

const logOf = async (runtime: SessionRuntime, id: string): Promise<string[]> =>
  (await runtime.events(id, ann)).events.map(({ seq, event }) => `${seq} ${event.type}`);

describe.each(places)('a feed (%s)', (_name, makePlace) => {
  it('has every event of the log once, and the text as it is streamed', async () => {
    const runtime = runtimeOn(
      makePlace().open(),
      agentWith([toolCall('look'), final('All well.')], mockTool('look')),
    );
    const { id } = await runtime.create(ann);
    const reader = followerOf(runtime, id);
    await runtime.send(id, 'go', waiting);
    await hasEnded(reader);
    expect(numberedIn(reader.seen)).toEqual(await logOf(runtime, id));
    expect(textIn(reader.seen)).toBe('All well.');
    const types = reader.seen.map(({ event }) => event.type);
    expect(types.indexOf('StreamChunk')).toBeGreaterThan(types.lastIndexOf('AgentStepStarted'));
    expect(types.lastIndexOf('StreamChunk')).toBeLessThan(types.lastIndexOf('MessageAdded'));
  });

  it('continues over pauses, resumes and executions, and from any position', async () => {
    const driver = followingDriver(
      [toolCall('pay'), final('one')],
      [final('two')],
      [final('three')],
    );
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const runtime = runtimeOn(makePlace().open(), builderWith(driver, pay).build());
    const { id } = await runtime.create(ann);
    const first = followerOf(runtime, id);
    const paused = await runtime.send(id, 'a', waiting);
    await runtime.approve(id, callIds(paused)[0]!, waiting);
    await runtime.send(id, 'b', waiting);
    await runtime.send(id, 'c', waiting);
    await hasEnded(first, 4);
    const all = numberedIn(first.seen);
    expect(all.filter((line) => line.endsWith(' AgentFinished'))).toHaveLength(3);
    expect(all).not.toContainEqual(expect.stringContaining('gap'));
    const log = first.seen.filter(({ seq }) => seq !== null);
    for (const [i, { seq, event }] of log.entries()) {
      const after = { executionId: event.executionId, seq: seq ?? 0 };
      const late = followerOf(runtime, id, { after });
      await until(() => late.seen.length === log.length - 1 - i);
      expect(numberedIn(late.seen)).toEqual(all.slice(i + 1));
      late.leave();
      await late.ended;
    }
    const newest = followerOf(runtime, id);
    await hasEnded(newest);
    expect(numberedIn(newest.seen)).toEqual(await logOf(runtime, id));
  });

  it('of one execution ends when a later one begins', async () => {
    const runtime = runtimeOn(
      makePlace().open(),
      builderWith(followingDriver([final('a')], [final('b')])).build(),
    );
    const { id } = await runtime.create(ann);
    const one = followerOf(runtime, id, { executionId: 'first' });
    await runtime.send(id, 'a', { ...waiting, executionId: 'first' });
    await hasEnded(one);
    const log = await logOf(runtime, id);
    await runtime.send(id, 'b', { ...waiting, executionId: 'second' });
    await one.ended;
    expect(numberedIn(one.seen)).toEqual(log);
    const again = followerOf(runtime, id, { executionId: 'first' });
    await again.ended;
    expect(numberedIn(again.seen)).toEqual(log);
  });

  it('yields a gap where the log was pruned, and continues after it', async () => {
    const runtime = runtimeOn(
      makePlace().open(),
      builderWith(followingDriver([final('a')], [final('b')])).build(),
    );
    const { id } = await runtime.create(ann);
    await runtime.send(id, 'a', { ...waiting, executionId: 'first' });
    const { seq } = await runtime.events(id, ann);
    await runtime.prune({ olderThan: new Date(Date.now() + 60_000) });
    const reader = followerOf(runtime, id, { after: { executionId: 'first', seq: 2 } });
    await until(() => reader.seen.length > 0);
    expect(reader.seen).toEqual([
      { sessionId: id, owner: 'ann', seq, event: { type: 'gap', executionId: 'first' } },
    ]);
    await runtime.send(id, 'b', waiting);
    await hasEnded(reader);
    expect(numberedIn(reader.seen)).toEqual([`${seq} gap`, ...(await logOf(runtime, id))]);
  });

  it('of a session that another process works on has its events, each once', async () => {
    const place = makePlace();
    const agent = builderWith(
      followingDriver([toolCall('look'), final('a')], [final('b')], [final('c')]),
      mockTool('look'),
    ).build();
    const worker = runtimeOn(place.open(), agent);
    const web = clientOn(place.open(), agent);
    const { id } = await web.create(ann);
    const there = followerOf(worker, id);
    const here = followerOf(web, id);
    for (const text of ['a', 'b', 'c']) await worker.send(id, text, waiting);
    await hasEnded(there, 3);
    await hasEnded(here, 3);
    expect(numberedIn(here.seen)).toEqual(numberedIn(there.seen));
  });
});

describe('text that is being streamed', () => {
  it('is delivered from its beginning to a reader that joins, comes back or was slow', async () => {
    const [half, rest] = [gate(), gate()];
    const pieces = ['All ', 'is ', half, 'well, ', rest, 'Ann.'];
    const runtime = runtimeOn(memoryPlace().open(), builderWith(speaking(pieces)).build());
    const { id } = await runtime.create(ann);
    const there = followerOf(runtime, id);
    const running = runtime.send(id, 'go', waiting);
    await until(() => textIn(there.seen) === 'All is ');
    const joined = followerOf(runtime, id);
    await until(() => textIn(joined.seen) === 'All is ');
    const back = followerOf(runtime, id, { after: joined.position! });
    there.leave();
    joined.leave();
    await until(() => textIn(back.seen) === 'All is ');
    back.leave();
    await back.ended;
    // the text is kept even without a reader
    half.open();
    await pause(10);
    const last = followerOf(runtime, id);
    await until(() => textIn(last.seen) === 'All is well, ');
    rest.open();
    await running;
    await hasEnded(last);
    expect(textIn(last.seen)).toBe('All is well, Ann.');
    const chunks = last.seen.flatMap(({ event }) => (event.type === 'StreamChunk' ? event : []));
    expect(chunks.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(new Set(chunks.map(({ messageId }) => messageId)).size).toBe(1);
  });

  it('is the only thing that a slow reader loses', async () => {
    const pieces = Array.from({ length: 12_000 }, (_p, i) => `word${i} `);
    const turns = pieces.flatMap((piece, i) => (i % 100 === 99 ? [piece, nextTurn] : [piece]));
    const runtime = runtimeOn(memoryPlace().open(), builderWith(speaking(turns)).build());
    const { id } = await runtime.create(ann);
    const fast = followerOf(runtime, id);
    // takes the next event when the fast reader has nearly all
    const slow = followerOf(runtime, id, {
      pace: () => (slow.seen.length === 100 ? until(() => fast.seen.length > 11_000) : undefined),
    });
    await runtime.send(id, 'go', waiting);
    await hasEnded(fast);
    await hasEnded(slow);
    expect(textIn(fast.seen) === pieces.join('')).toBe(true);
    expect(numberedIn(slow.seen)).toEqual(numberedIn(fast.seen));
    expect(textIn(slow.seen).length).toBeLessThan(textIn(fast.seen).length);
    expect(textIn(fast.seen).includes(textIn(slow.seen))).toBe(true);
  });
});

describe('a feed ends', () => {
  const quiet = () => runtimeOn(memoryPlace().open(), agentWith([final('a')]));

  it('when the session is deleted, here or by another process', async () => {
    const place = memoryPlace();
    const agent = agentWith([final('a')]);
    const [here, there] = [runtimeOn(place.open(), agent), clientOn(place.open(), agent)];
    const { id } = await here.create(ann);
    const readers = [followerOf(here, id), followerOf(there, id)];
    await pause(20);
    await here.delete(id, ann);
    for (const { ended } of readers) await ended;
  });

  it('when the runtime closes, after the last events', async () => {
    const runtime = quiet();
    const { id } = await runtime.create(ann);
    const reader = followerOf(runtime, id);
    await runtime.send(id, 'go', waiting);
    await runtime.close();
    await reader.ended;
    expect(endsIn(reader.seen)).toBe(1);
    await followerOf(runtime, id).ended;
  });

  it('when the signal aborts or the reader leaves, and the run is not stopped', async () => {
    const hold = gate();
    const runtime = runtimeOn(
      memoryPlace().open(),
      builderWith(speaking(['a', hold, 'b'])).build(),
    );
    const { id } = await runtime.create(ann);
    const reader = followerOf(runtime, id);
    const running = runtime.send(id, 'go', waiting);
    await until(() => textIn(reader.seen) === 'a');
    reader.leave();
    await reader.ended;
    for await (const event of runtime.follow(id, ann)) {
      expect(event.event.type).toBe('AgentStarted');
      break;
    }
    hold.open();
    expect((await running).status).toBe('completed');
    const feed = runtime.follow(id, { ...ann, signal: AbortSignal.abort() });
    for await (const event of feed) expect(event).toBe('nothing');
  });
});

describe('a feed refuses', () => {
  const read = async (feed: AsyncIterable<unknown>): Promise<void> => {
    for await (const event of feed) expect(event).toBe('nothing');
  };

  it('sessions of other owners and missing sessions', async () => {
    const runtime = runtimeOn(memoryPlace().open(), agentWith([final('a')]));
    const { id } = await runtime.create(ann);
    await runtime.send(id, 'go', waiting);
    for (const [session, owner] of [
      [id, 'bob'],
      ['none', 'ann'],
      [id, ''],
    ] as const)
      expect(await codeOf(() => read(runtime.follow(session, { owner })))).toMatch(
        owner === '' ? 'invalid_option' : 'session_not_found',
      );
  });

  it('invalid positions', async () => {
    const runtime = runtimeOn(memoryPlace().open(), agentWith([final('a')]));
    const bad = [
      { after: { executionId: 'a', seq: -1 } },
      { after: { executionId: 'a', seq: 1.5 } },
      { after: { executionId: 'a', seq: 1 }, executionId: 'b' },
    ];
    for (const options of bad)
      expect(await codeOf(() => runtime.follow('s', { ...ann, ...options }))).toBe(
        'invalid_option',
      );
  });

  it('with the error of the store if that fails', async () => {
    const store: SessionStore = { ...memoryPlace().open() };
    const runtime = runtimeOn(store, agentWith([final('a')]));
    const { id } = await runtime.create(ann);
    const failing = { ...store, find: () => Promise.reject(new Error('disk gone')) };
    const other = new SessionRuntime({ store: failing, agents: [agentWith([final('a')])] });
    await expect(read(other.follow(id, ann))).rejects.toThrow('disk gone');
  });
});
