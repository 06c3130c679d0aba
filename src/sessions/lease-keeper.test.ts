import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { codeOf, down, leaseRig, silent } from '../../test/setup/lease-keepers.ts';
import { checkedLeaseTimes } from './lease-keeper.ts';
import type { RenewedLease, SessionStore } from './session-store.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a lease that is held', () => {
  it('is renewed and polled for requests as long as it is held', async () => {
    const { keeper, asked, hold } = leaseRig();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(asked).toEqual({ renew: 0, signals: 0 });
    const { lease, lost } = await hold('a');
    await vi.advanceTimersByTimeAsync(1_250);
    expect(asked).toEqual({ renew: 4, signals: 12 });
    expect(lost).toEqual([]);
    keeper.drop(lease);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(asked).toEqual({ renew: 4, signals: 12 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('receives requests of this and other processes', async () => {
    const { hold, store, keeper } = leaseRig();
    const { reported } = await hold('a');
    keeper.signal('a', { stopReason: null, pauseReason: 'lunch' });
    keeper.signal('b', { stopReason: 'not ours', pauseReason: null });
    expect(reported).toEqual([[null, 'lunch']]);
    await store.request('a', { stop: 'enough' });
    await vi.advanceTimersByTimeAsync(150);
    expect(reported).toEqual([
      [null, 'lunch'],
      ['enough', null],
    ]);
  });

  it.each([
    ['gone', (store: SessionStore) => store.delete('a')],
    [
      'taken',
      async (store: SessionStore) => {
        const row = await store.find('a');
        await store.commit({ sessionId: 'a', token: 1, revision: row!.revision, end: 'handover' });
        await store.claim('a', { worker: 'w', ttlMs: 60_000 });
      },
    ],
  ] as const)('is lost when the session is %s', async (_how, happens) => {
    const { hold, store } = leaseRig();
    const [a, b] = [await hold('a'), await hold('b')];
    await happens(store);
    await vi.advanceTimersByTimeAsync(150);
    expect(a.lost).toEqual(['stale_owner']);
    expect(b.lost).toEqual([]);
    expect(await codeOf(a.lease.confirm())).toBe('stale_owner');
    expect(b.lease.confirm()).toBeUndefined();
  });

  it('notifies a new listener of an earlier loss', async () => {
    const { hold, store } = leaseRig();
    const { lease } = await hold('a');
    await store.delete('a');
    await vi.advanceTimersByTimeAsync(150);
    const lost: unknown[] = [];
    lease.listen({ signalled: () => {}, handOver: () => {}, lost: (error) => lost.push(error) });
    expect(lost).toHaveLength(1);
  });

  it('is not lost to a poll that started before the claim or that answers after the drop', async () => {
    const { hold, faults, keeper, store } = leaseRig();
    let answer: (signals: RenewedLease[]) => void = () => {};
    faults.signals = () => new Promise((resolve) => (answer = resolve));
    const first = await hold('a');
    await vi.advanceTimersByTimeAsync(150);
    keeper.drop(first.lease);
    await store.delete('a');
    const second = await hold('a');
    answer([]);
    await vi.advanceTimersByTimeAsync(1);
    expect([first.lost, second.lost]).toEqual([[], []]);
  });

  it('survives a short outage of the store and is renewed again before the next heartbeat', async () => {
    const { hold, faults, asked, store } = leaseRig();
    const { lost, reported } = await hold('a');
    Object.assign(faults, { renew: down, signals: down });
    await vi.advanceTimersByTimeAsync(350);
    expect([lost, reported]).toEqual([[], []]);
    delete faults.renew;
    delete faults.signals;
    await store.request('a', { stop: 'now' });
    await vi.advanceTimersByTimeAsync(100);
    expect(reported.length).toBeGreaterThan(0);
    expect(asked.renew).toBe(2);
    await vi.advanceTimersByTimeAsync(850);
    expect(await store.find('a')).toMatchObject({ worker: 'w', isLeased: true });
  });

  it('is renewed even if a poll for requests or the previous heartbeat hangs', async () => {
    const { hold, faults, asked, store } = leaseRig();
    await hold('a');
    faults.signals = silent;
    await vi.advanceTimersByTimeAsync(350);
    expect(asked).toEqual({ renew: 1, signals: 1 });
    faults.renew = silent;
    await vi.advanceTimersByTimeAsync(300);
    delete faults.renew;
    await vi.advanceTimersByTimeAsync(650);
    expect(await store.find('a')).toMatchObject({ worker: 'w', isLeased: true });
    // one poll at a time, even if it never ends
    expect(asked.signals).toBe(1);
  });

  it('names only held leases to the store', async () => {
    const { hold, faults, store, keeper } = leaseRig();
    const named: unknown[] = [];
    faults.renew = (given) => {
      named.push(given.leases);
      return store.renew(given);
    };
    const [a, b] = [await hold('a'), await hold('b')];
    keeper.drop(b.lease);
    await vi.advanceTimersByTimeAsync(350);
    expect(named).toEqual([[{ sessionId: 'a', token: a.lease.token }]]);
  });
});

describe('a claim whose answer is lost', () => {
  it('still gets the lease if the store has carried it out', async () => {
    const { open, faults, keeper, store } = leaseRig();
    await open('a');
    faults.claim = async (...given) => {
      await store.claim(...given);
      return down();
    };
    const lease = await keeper.claim('a');
    expect(lease?.row).toMatchObject({ id: 'a', worker: 'w' });
    await vi.advanceTimersByTimeAsync(1_500);
    expect(await store.find('a')).toMatchObject({ worker: 'w', isLeased: true });
  });

  it('is released when the store answers again, before the lease expires', async () => {
    const { open, faults, keeper, store } = leaseRig();
    await open('a');
    faults.find = down;
    faults.claim = async (...given) => {
      await store.claim(...given);
      return down();
    };
    expect(await codeOf(keeper.claim('a'))).toBe('down');
    delete faults.find;
    await vi.advanceTimersByTimeAsync(310);
    expect(await store.find('a')).toMatchObject({ phase: 'open', worker: null });
  });

  it('is released even if it reaches the store late', async () => {
    const { open, faults, keeper, store } = leaseRig();
    await open('a');
    let arrive = (): unknown => undefined;
    faults.claim = (...given) => {
      arrive = () => store.claim(...given);
      return down();
    };
    expect(await codeOf(keeper.claim('a'))).toBe('down');
    await vi.advanceTimersByTimeAsync(350);
    await arrive();
    expect((await store.find('a'))?.worker).toBe('w');
    await vi.advanceTimersByTimeAsync(300);
    expect((await store.find('a'))?.worker).toBeNull();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('expires if it cannot be released, while other leases are kept', async () => {
    const { open, faults, keeper, store, hold } = leaseRig();
    await hold('b');
    await open('a');
    Object.assign(faults, { find: down });
    faults.claim = async (...given) => {
      await store.claim(...given);
      return down();
    };
    expect(await codeOf(keeper.claim('a'))).toBe('down');
    await vi.advanceTimersByTimeAsync(1_050);
    expect(await store.find('a')).toMatchObject({ worker: 'w', isLeased: false });
    expect(await store.find('b')).toMatchObject({ worker: 'w', isLeased: true });
  });

  it('is not confused with a lease that this worker already holds', async () => {
    const { hold, faults, keeper, store } = leaseRig();
    const { lease } = await hold('a');
    faults.claim = down;
    expect(await codeOf(keeper.claim('a'))).toBe('down');
    await vi.advanceTimersByTimeAsync(350);
    expect((await store.find('a'))?.token).toBe(lease.token);
    expect(lease.isLeaseValid).toBe(true);
  });

  it('is the only claim of its session at a time', async () => {
    const { open, keeper } = leaseRig();
    await open('a');
    const claims = await Promise.all([keeper.claim('a'), keeper.claim('a')]);
    expect(claims.filter((lease) => lease !== null)).toHaveLength(1);
  });

  it('is the only claim of its session at a time, even if answers are lost', async () => {
    const { open, keeper, store, faults } = leaseRig();
    await open('a');
    faults.claim = async (...given) => {
      await store.claim(...given);
      return down();
    };
    const claims = await Promise.all([keeper.claim('a'), keeper.claim('a')]);
    expect(claims.filter((lease) => lease !== null)).toHaveLength(1);
  });
});

describe('a released lease', () => {
  it('is free immediately and leaves the session unchanged', async () => {
    const { hold, keeper, store } = leaseRig();
    const { lease } = await hold('a');
    await keeper.release(lease);
    expect(await store.find('a')).toMatchObject({ phase: 'open', worker: null, updatedAt: '2026' });
    expect(await store.recoverable({ agents: [{ agent: 'x' }], limit: 5 })).toMatchObject([
      { ids: ['a'] },
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('costs as many statements beside a hundred others as alone', async () => {
    const { hold, keeper, store, faults } = leaseRig();
    const ids = Array.from({ length: 100 }, (_, n) => `s${n}`);
    const held = await Promise.all(ids.map((id) => hold(id)));
    let reads = 0;
    faults.find = async (id) => {
      reads++;
      // a server answers later
      await Promise.resolve();
      return store.find(id);
    };
    await Promise.all(held.map(({ lease }) => keeper.release(lease)));
    expect(reads).toBeLessThanOrEqual(200);
    for (const id of ids) expect((await store.find(id))?.worker).toBeNull();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is left alone if another worker holds it', async () => {
    const { hold, keeper, store, take, faults } = leaseRig();
    const { lease } = await hold('a');
    faults.renew = down;
    await vi.advanceTimersByTimeAsync(1_050);
    expect(await take('a')).not.toBeNull();
    await keeper.release(lease);
    expect((await store.find('a'))?.worker).toBe('other');
  });

  it('is released again with each heartbeat until the store accepts it', async () => {
    const { hold, keeper, store, faults } = leaseRig();
    const { lease } = await hold('a');
    let fails = 2;
    faults.find = async (id) => (fails-- > 0 ? down() : store.find(id));
    await keeper.release(lease);
    expect((await store.find('a'))?.worker).toBe('w');
    await vi.advanceTimersByTimeAsync(650);
    expect((await store.find('a'))?.worker).toBeNull();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a failed try', () => {
  const retry = { kind: 'retry', error: 'it broke', waitMs: 0 } as const;

  it.each([
    ['fails', down],
    ['does not answer', silent],
  ])('releases its lease even if the store %s', async (_, release) => {
    const { hold, keeper, store, faults } = leaseRig();
    const { lease } = await hold('a');
    faults.release = release;
    const released = keeper.endAttempt(lease, retry);
    await vi.advanceTimersByTimeAsync(1_010);
    await released;
    expect(await store.find('a')).toMatchObject({ phase: 'open', worker: null });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('releases its lease even if a commit of its work came in between', async () => {
    const { hold, keeper, store, faults } = leaseRig();
    const { lease } = await hold('a');
    let isLate = true;
    faults.find = async (id) => {
      const row = await store.find(id);
      if (row && isLate) {
        isLate = false;
        await store.commit({ sessionId: id, token: row.token, revision: row.revision });
      }
      return row;
    };
    await keeper.release(lease);
    expect(await store.find('a')).toMatchObject({ phase: 'open', worker: null, revision: 2 });
  });
});

describe('checkedLeaseTimes', () => {
  it('has defaults and requires a lease of at least two heartbeats', () => {
    expect(checkedLeaseTimes()).toEqual({ leaseMs: 15_000, heartbeatMs: 5_000, signalMs: 400 });
    expect(checkedLeaseTimes({ signalMs: 50 }).signalMs).toBe(50);
    expect(checkedLeaseTimes({ leaseMs: 10_000 }).leaseMs).toBe(10_000);
    for (const bad of [
      { leaseMs: 9_999 },
      { heartbeatMs: 8_000 },
      { signalMs: 0 },
      { leaseMs: Infinity },
    ])
      expect(() => checkedLeaseTimes(bad)).toThrow(
        expect.objectContaining({ code: 'invalid_option' }),
      );
  });
});
