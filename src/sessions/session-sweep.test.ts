import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SessionSweep } from './session-sweep.ts';
import type { SessionStore } from './session-store.ts';
import { memoryStore } from './stores/memory/index.ts';

const LEASE_MS = 15_000;
const nameOf = (n: number): string => `owner-${String(n).padStart(4, '0')}`;

/** Each owner has one session that waits, under the owner's name. */
async function withOwners(owners: number): Promise<SessionStore> {
  const store = memoryStore();
  for (let n = 0; n < owners; n++) {
    const id = nameOf(n);
    const counts = { messageCount: 0, stepCount: 0 };
    const session = { id, owner: id, agent: 'ours', status: 'pending', executionId: null } as const;
    await store.create({ ...session, ...counts, head: '{}', createdAt: '2026' });
    const command = { kind: 'message', executionId: 'e', body: '{}', at: '2026' } as const;
    await store.accept(id, command, { phases: ['idle'] });
  }
  return store;
}

describe('looks for work', () => {
  it('continue where the last one ended, and begin anew after the last owner', async () => {
    const sweep = new SessionSweep(await withOwners(1_002), ['ours'], LEASE_MS);
    const first = (await sweep.find()).others;
    expect(first).toHaveLength(1_000);
    expect((await sweep.find()).others).toEqual([nameOf(1_000), nameOf(1_001)]);
    expect((await sweep.find()).others).toEqual(first);
  });

  it('begin anew at once where nothing is left behind the last owner', async () => {
    const store = await withOwners(1_001);
    const sweep = new SessionSweep(store, ['ours'], LEASE_MS);
    const first = (await sweep.find()).others;
    await store.delete(nameOf(1_000));
    expect((await sweep.find()).others).toEqual(first);
  });

  it('leave out what gave trouble, until it works', async () => {
    const sweep = new SessionSweep(await withOwners(2), ['ours'], LEASE_MS);
    sweep.noteTrouble(nameOf(0));
    expect((await sweep.find()).others).toEqual([nameOf(1)]);
    sweep.noteWork(nameOf(0));
    expect((await sweep.find()).others).toEqual([nameOf(0), nameOf(1)]);
  });

  it('find what is to be stopped though it waits for its next try here, but not what gave trouble', async () => {
    const store = await withOwners(2);
    for (const n of [0, 1]) await store.request(nameOf(n), { stop: 'enough' });
    const sweep = new SessionSweep(store, ['another'], LEASE_MS);
    sweep.later(nameOf(0), LEASE_MS, () => {});
    sweep.noteTrouble(nameOf(1));
    expect(await sweep.find()).toEqual({ stops: [nameOf(0)], others: [] });
    expect([sweep.isFree(nameOf(0)), sweep.isFree('none')]).toEqual([true, false]);
    sweep.stop();
  });

  it('find what a process that died has left, of the agents that are here', async () => {
    const store = await withOwners(1);
    await store.claim(nameOf(0), { worker: 'gone', ttlMs: 5 });
    await wait(20);
    expect((await new SessionSweep(store, ['ours'], LEASE_MS).find()).others).toEqual([nameOf(0)]);
    expect((await new SessionSweep(store, ['another'], LEASE_MS).find()).others).toEqual([]);
  });

  it('leave out what this process tries again by itself', async () => {
    const sweep = new SessionSweep(await withOwners(2), ['ours'], LEASE_MS);
    sweep.later(nameOf(0), LEASE_MS, () => {});
    expect((await sweep.find()).others).toEqual([nameOf(1)]);
    sweep.stop();
  });

  it('come one at a time, and other processes have two of them before a try is made again here', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const sweep = new SessionSweep(memoryStore(), ['ours'], LEASE_MS);
    const look = vi.fn(() => new Promise<void>(() => {}));
    const again = vi.fn();
    sweep.start(look);
    sweep.later('s', 500, again);
    vi.advanceTimersByTime(2_499);
    expect([look.mock.calls.length, again.mock.calls.length]).toEqual([1, 0]);
    vi.advanceTimersByTime(1);
    expect(again).toHaveBeenCalledTimes(1);
    sweep.stop();
  });
});
