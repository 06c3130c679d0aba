import { holds, same } from './expect.ts';
import { busyAndPaused, finished } from './finished-session.ts';
import { at, fresh, type Held, type StoreHarness, type HarnessCase } from './store-harness.ts';

/** Enough for several batches of a store with small ones. */
const MANY = 30;
const nothing = { sessions: 0, rows: 0 };

async function parked(harness: StoreHarness): Promise<Held> {
  const held = await harness.held();
  await harness.store.release(held.id, held.token, {
    kind: 'park',
    error: 'too often',
    tries: 5,
    at: at(100),
  });
  return held;
}

/** Creates several finished sessions of one owner. */
async function several(
  harness: StoreHarness,
  count: number,
): Promise<{ owner: string; ids: string[] }> {
  const owner = fresh('own');
  const ids = [];
  for (let n = 0; n < count; n++) ids.push((await finished(harness, at(100 + n), { owner })).id);
  return { owner, ids };
}

/** Deleting whole sessions by age, and how prune and expire share the store with others. */
export const expiryCases: readonly HarnessCase[] = [
  {
    name: 'D44: expire deletes sessions that did not change since, with all rows',
    async run(harness) {
      const { store } = harness;
      const { id } = await finished(harness);
      const { owner } = await harness.row(id);
      const recent = await finished(harness, at(501), { owner });
      const foreign = await finished(harness);
      const kept = await Promise.all([recent.id, foreign.id].map((each) => store.size(each)));
      const size = await store.size(id);
      const request = { olderThan: at(500), owner };
      same(await store.expire({ ...request, dryRun: true }), { sessions: 1, rows: 0 }, 'a dry run');
      same(await store.size(id), size, 'the size after a dry run');
      same(await store.expire(request), { sessions: 1, rows: size.rows }, 'what expire says');
      same(await store.find(id), null, 'the session');
      same(await store.size(id), { rows: 0, bytes: 0 }, 'what is left of it');
      const left = await Promise.all([recent.id, foreign.id].map((each) => store.size(each)));
      same(left, kept, 'the size of other sessions');
      same(await store.expire(request), nothing, 'a second time');
    },
  },
  {
    name: 'D44: expire keeps sessions that are busy or open, and by default those that need approval',
    async run(harness) {
      const { store } = harness;
      const { open, held, paused } = await busyAndPaused(harness);
      const waiting = [paused, await parked(harness)];
      for (const { id } of [open, held, ...waiting]) {
        const { owner } = await harness.row(id);
        const before = await store.size(id);
        same(await store.expire({ olderThan: at(500), owner }), nothing, 'what expire says');
        same(await store.size(id), before, 'the size');
      }
      for (const { id } of [open, held]) {
        const { owner } = await harness.row(id);
        const request = { olderThan: at(500), owner, waiting: true };
        same(await store.expire(request), nothing, 'what expire says of work');
      }
      for (const { id } of waiting) {
        const { owner } = await harness.row(id);
        const { rows } = await store.size(id);
        const request = { olderThan: at(500), owner, waiting: true };
        same(await store.expire(request), { sessions: 1, rows }, 'what expire says with waiting');
        same(await store.find(id), null, 'the session that waited');
      }
    },
  },
  {
    name: 'prune and expire report progress, end on a signal, and continue with the next call',
    async run(harness) {
      const { store } = harness;
      for (const work of ['prune', 'expire'] as const) {
        const { owner, ids } = await several(harness, MANY);
        const request = { olderThan: at(500), owner };
        const seen: number[] = [];
        const control = new AbortController();
        const first = await store[work]({
          ...request,
          signal: control.signal,
          onProgress({ sessions }) {
            seen.push(sessions);
            if (sessions > 0) control.abort();
          },
        });
        holds(first.sessions > 0, 'something is done');
        same(seen.at(-1), first.sessions, 'the last progress');
        same(seen.filter((n) => n > 0).length, 1, 'the batches up to the signal');
        const ended = { ...request, signal: control.signal };
        same(await store[work](ended), nothing, 'a call after the signal');
        const rest = await store[work](request);
        same(first.sessions + rest.sessions, MANY, 'the sessions of both calls');
        const left = await Promise.all(ids.map((id) => store.find(id)));
        const isKept = left.every((row) => (row !== null) === (work === 'prune'));
        holds(isKept, `the sessions are ${work === 'prune' ? 'kept' : 'gone'}`);
      }
    },
  },
  {
    name: 'a session that requires a newer release is neither pruned nor expired',
    async run(harness) {
      const { store } = harness;
      const { id } = await finished(harness, at(100), {}, { requires: 99 });
      const { owner, requires } = await harness.row(id);
      same(requires, 99, 'what it requires');
      const before = await store.size(id);
      const request = { olderThan: at(500), owner };
      same(await store.prune(request), nothing, 'what prune says');
      same(await store.expire(request), nothing, 'what expire says');
      same(
        await store.expire({ ...request, waiting: true }),
        nothing,
        'what expire says with waiting',
      );
      same(await store.size(id), before, 'its size');
    },
  },
];
