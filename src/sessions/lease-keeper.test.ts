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
  it('is renewed and looked after, as long as it is held', async () => {
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

  it('hears what others request', async () => {
    const { hold, store, keeper } = leaseRig();
    const { told } = await hold('a');
    keeper.signal('a', { stopReason: null, pauseReason: 'lunch' });
    keeper.signal('b', { stopReason: 'not ours', pauseReason: null });
    expect(told).toEqual([[null, 'lunch']]);
    await store.request('a', { stop: 'enough' });
    await vi.advanceTimersByTimeAsync(150);
    expect(told).toEqual([
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
  ] as const)('is lost when it is %s', async (_how, happens) => {
    const { hold, store, keeper } = leaseRig();
    const [a, b] = [await hold('a'), await hold('b')];
    await happens(store);
    await vi.advanceTimersByTimeAsync(150);
    expect(a.lost).toEqual(['stale_owner']);
    expect(b.lost).toEqual([]);
    expect(await codeOf(keeper.confirm(a.lease))).toBe('stale_owner');
    expect(keeper.confirm(b.lease)).toBeUndefined();
  });

  it('tells of a loss that came while nothing worked under it', async () => {
    const { hold, store } = leaseRig();
    const { lease } = await hold('a');
    await store.delete('a');
    await vi.advanceTimersByTimeAsync(150);
    const lost: unknown[] = [];
    lease.listen({ signalled: () => {}, lost: (error) => lost.push(error) });
    expect(lost).toHaveLength(1);
  });

  it('is not lost to a poll that was under way before it was claimed, or after it was dropped', async () => {
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

  it('outlives a store that does not answer for a moment, and is asked for again before the next beat', async () => {
    const { hold, faults, asked, store } = leaseRig();
    const { lost, told } = await hold('a');
    Object.assign(faults, { renew: down, signals: down });
    await vi.advanceTimersByTimeAsync(350);
    expect([lost, told]).toEqual([[], []]);
    delete faults.renew;
    delete faults.signals;
    await store.request('a', { stop: 'now' });
    await vi.advanceTimersByTimeAsync(100);
    expect(told.length).toBeGreaterThan(0);
    expect(asked.renew).toBe(2);
    await vi.advanceTimersByTimeAsync(850);
    expect(await store.find('a')).toMatchObject({ worker: 'w', isLeased: true });
  });

  it('is renewed though a poll for requests hangs, and though the beat before it hangs', async () => {
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
    // one poll at a time, whatever becomes of it
    expect(asked.signals).toBe(1);
  });

  it('names what it holds to the store, and nothing else', async () => {
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
  it('is worked on: the session is ours', async () => {
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

  it('is given back when the store answers again, before the lease runs out', async () => {
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

  it('is given back too when it reaches the store after a while', async () => {
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

  it('runs out where nothing can be given back, though other leases are kept', async () => {
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

  it('is not taken for one that works here already', async () => {
    const { hold, faults, keeper, store } = leaseRig();
    const { lease } = await hold('a');
    faults.claim = down;
    expect(await codeOf(keeper.claim('a'))).toBe('down');
    await vi.advanceTimersByTimeAsync(350);
    expect((await store.find('a'))?.token).toBe(lease.token);
    expect(lease.isLeaseValid).toBe(true);
  });

  it('one claim of a session at a time', async () => {
    const { open, keeper } = leaseRig();
    await open('a');
    const claims = await Promise.all([keeper.claim('a'), keeper.claim('a')]);
    expect(claims.filter((lease) => lease !== null)).toHaveLength(1);
  });

  it('one claim of a session at a time, also where the answers are lost', async () => {
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

describe('a lease that is given back', () => {
  it('is free at once, and the session as it was', async () => {
    const { hold, keeper, store } = leaseRig();
    const { lease } = await hold('a');
    await keeper.release(lease);
    expect(await store.find('a')).toMatchObject({ phase: 'open', worker: null, updatedAt: '2026' });
    expect(await store.recoverable({ agent: 'x', limit: 5 })).toMatchObject({ ids: ['a'] });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is left alone when another worker has it', async () => {
    const { hold, keeper, store, take, faults } = leaseRig();
    const { lease } = await hold('a');
    faults.renew = down;
    await vi.advanceTimersByTimeAsync(1_050);
    expect(await take('a')).not.toBeNull();
    await keeper.release(lease);
    expect((await store.find('a'))?.worker).toBe('other');
  });

  it('is tried again with the beats, until the store has heard of it', async () => {
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

describe('a try that failed', () => {
  const retry = { kind: 'retry', error: 'it broke', waitMs: 0 } as const;

  it.each([
    ['fails', down],
    ['does not answer', silent],
  ])('gives its lease back though the store %s', async (_, release) => {
    const { hold, keeper, store, faults } = leaseRig();
    const { lease } = await hold('a');
    faults.release = release;
    const released = keeper.endAttempt(lease, retry);
    await vi.advanceTimersByTimeAsync(1_010);
    await released;
    expect(await store.find('a')).toMatchObject({ phase: 'open', worker: null });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives its lease back though a commit of its work came in between', async () => {
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

describe('times', () => {
  it('have defaults, and a lease is good for two beats', () => {
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
