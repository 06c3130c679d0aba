import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SessionSweep } from './session-sweep.ts';
import type { SessionStore } from './session-store.ts';
import { memoryStore } from './stores/memory/index.ts';

const LEASE_MS = 15_000;
const nameOf = (n: number): string => `owner-${String(n).padStart(4, '0')}`;

/** Creates a store in which each owner has one waiting session with the owner's name as its id. */
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

describe('SessionSweep', () => {
  it('continues each poll after the last owner, and starts over after the last page', async () => {
    const sweep = new SessionSweep(await withOwners(1_002), ['ours'], LEASE_MS);
    const first = (await sweep.find()).waiting;
    expect(first).toHaveLength(1_000);
    expect((await sweep.find()).waiting).toEqual([nameOf(1_000), nameOf(1_001)]);
    expect((await sweep.find()).waiting).toEqual(first);
  });

  it('starts over immediately if no session is left after the last owner', async () => {
    const store = await withOwners(1_001);
    const sweep = new SessionSweep(store, ['ours'], LEASE_MS);
    const first = (await sweep.find()).waiting;
    await store.delete(nameOf(1_000));
    expect((await sweep.find()).waiting).toEqual(first);
  });

  it('leaves out a session that failed until it was worked on', async () => {
    const sweep = new SessionSweep(await withOwners(2), ['ours'], LEASE_MS);
    sweep.noteTrouble(nameOf(0));
    expect((await sweep.find()).waiting).toEqual([nameOf(1)]);
    sweep.noteWork(nameOf(0));
    expect((await sweep.find()).waiting).toEqual([nameOf(0), nameOf(1)]);
  });

  it('finds sessions that failed while the store was down as soon as it answers again', async () => {
    const store = await withOwners(2);
    const { urgent } = store;
    const sweep = new SessionSweep(store, ['ours'], LEASE_MS);
    store.urgent = () => Promise.reject(new Error('down'));
    for (const _ of [1, 2, 3, 4]) sweep.noteTrouble(nameOf(0));
    sweep.later(nameOf(1), LEASE_MS, () => {});
    await expect(sweep.find()).rejects.toThrow('down');
    store.urgent = urgent;
    expect((await sweep.find()).waiting).toEqual([nameOf(0)]);
    sweep.noteTrouble(nameOf(0));
    expect((await sweep.find()).waiting).toEqual([]);
    sweep.stop();
  });

  it('finds a session to stop even if it waits for its next try here, but not one that failed', async () => {
    const store = await withOwners(2);
    for (const n of [0, 1]) await store.request(nameOf(n), { stop: 'enough' });
    const sweep = new SessionSweep(store, ['another'], LEASE_MS);
    sweep.later(nameOf(0), LEASE_MS, () => {});
    sweep.noteTrouble(nameOf(1));
    expect(await sweep.find()).toEqual({ stops: [nameOf(0)], expired: [], waiting: [] });
    expect([sweep.isFree(nameOf(0)), sweep.isFree('none')]).toEqual([true, false]);
    sweep.stop();
  });

  it('finds sessions that a dead process has left, of the agents in this process', async () => {
    const store = await withOwners(1);
    await store.claim(nameOf(0), { worker: 'gone', ttlMs: 5 });
    await wait(20);
    expect((await new SessionSweep(store, ['ours'], LEASE_MS).find()).expired).toEqual([nameOf(0)]);
    expect((await new SessionSweep(store, ['another'], LEASE_MS).find()).expired).toEqual([]);
  });

  it('leaves out a session that this process retries by itself', async () => {
    const sweep = new SessionSweep(await withOwners(2), ['ours'], LEASE_MS);
    sweep.later(nameOf(0), LEASE_MS, () => {});
    expect((await sweep.find()).waiting).toEqual([nameOf(1)]);
    sweep.stop();
  });

  describe('with a shared queue', () => {
    const overdue = async (sweep: SessionSweep): Promise<readonly string[]> =>
      sweep.overdue((await sweep.find()).waiting);

    it('reports sessions that wait longer than a queue takes, until they are worked on', async () => {
      vi.useFakeTimers();
      onTestFinished(() => void vi.useRealTimers());
      const sweep = new SessionSweep(await withOwners(2), ['ours'], LEASE_MS);
      expect(await overdue(sweep)).toEqual([]);
      vi.advanceTimersByTime(1_999);
      expect(await overdue(sweep)).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(await overdue(sweep)).toEqual([nameOf(0), nameOf(1)]);
      sweep.noteWork(nameOf(0));
      expect(await overdue(sweep)).toEqual([nameOf(1)]);
    });

    it('remembers a session that is not on every page', async () => {
      vi.useFakeTimers();
      onTestFinished(() => void vi.useRealTimers());
      const sweep = new SessionSweep(await withOwners(1_001), ['ours'], LEASE_MS);
      for (const _page of [1, 2]) await sweep.find();
      vi.advanceTimersByTime(60_000);
      expect(await overdue(sweep)).toHaveLength(1_000);
      expect(await overdue(sweep)).toEqual([nameOf(1_000)]);
      vi.advanceTimersByTime(600_001);
      expect(await overdue(sweep)).toEqual([]);
    });

    it('counts anew for a session that another process has worked on since', async () => {
      vi.useFakeTimers();
      onTestFinished(() => void vi.useRealTimers());
      const store = await withOwners(1);
      const sweep = new SessionSweep(store, ['ours'], LEASE_MS);
      expect(await overdue(sweep)).toEqual([]);
      const claim = { worker: 'elsewhere', ttlMs: LEASE_MS };
      const row = await store.claim(nameOf(0), claim);
      vi.advanceTimersByTime(5_000);
      expect((await sweep.find()).waiting).toEqual([]);
      await store.release(nameOf(0), row?.token ?? 0, { kind: 'retry', error: '', waitMs: 0 });
      vi.advanceTimersByTime(5_000);
      expect((await sweep.find()).waiting).toEqual([nameOf(0)]);
      expect(await overdue(sweep)).toEqual([]);
    });
  });

  it('asks the store three times, however many agents there are', async () => {
    const store = await withOwners(1_001);
    const [urgent, recoverable] = [vi.spyOn(store, 'urgent'), vi.spyOn(store, 'recoverable')];
    const agents = Array.from({ length: 50 }, (_none, n) => `agent-${n}`).concat('ours');
    const sweep = new SessionSweep(store, agents, LEASE_MS);
    expect((await sweep.find()).waiting).toHaveLength(1_000);
    expect((await sweep.find()).waiting).toEqual([nameOf(1_000)]);
    expect([urgent.mock.calls.length, recoverable.mock.calls.length]).toEqual([4, 2]);
    expect(recoverable.mock.calls[1]?.[0].agents).toEqual([
      ...agents.slice(0, -1).map((agent) => ({ agent })),
      { agent: 'ours', afterOwner: nameOf(999) },
    ]);
  });

  it('runs one poll at a time, and leaves other processes two polls before it retries', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const sweep = new SessionSweep(memoryStore(), ['ours'], LEASE_MS);
    const poll = vi.fn(() => new Promise<void>(() => {}));
    const again = vi.fn();
    sweep.start(poll);
    sweep.later('s', 500, again);
    vi.advanceTimersByTime(2_499);
    expect([poll.mock.calls.length, again.mock.calls.length]).toEqual([1, 0]);
    vi.advanceTimersByTime(1);
    expect(again).toHaveBeenCalledTimes(1);
    sweep.stop();
  });
});
