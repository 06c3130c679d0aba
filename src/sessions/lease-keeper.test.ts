import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkedLeaseTimes, LeaseKeeper, type HeldLease } from './lease-keeper.ts';
import type { LeaseSignal, SessionStore } from './session-store.ts';
import { memoryStore } from './stores/memory.ts';

const times = { leaseMs: 1_000, heartbeatMs: 300, signalMs: 100 };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A store that says what it is told to, and counts who asked. */
function rig(answers: { renew?: SessionStore['renew']; signals?: SessionStore['signals'] } = {}) {
  const held: LeaseSignal[] = [];
  const asked = { renew: 0, signals: 0 };
  const store: SessionStore = {
    ...memoryStore(),
    renew: async (lease) => {
      asked.renew += 1;
      return answers.renew ? answers.renew(lease) : held;
    },
    signals: async (worker) => {
      asked.signals += 1;
      return answers.signals ? answers.signals(worker) : held;
    },
  };
  const keeper = new LeaseKeeper(store, 'w', times);
  const hold = (sessionId: string, token: number) => {
    const told: unknown[] = [];
    const lost: unknown[] = [];
    const lease: HeldLease = {
      sessionId,
      token,
      signalled: ({ stopReason, pauseReason }) => told.push([stopReason, pauseReason]),
      lost: (error) => lost.push((error as { code: string }).code),
    };
    return { told, lost, release: keeper.hold(lease) };
  };
  const has = (sessionId: string, token: number, stopReason: string | null = null): void => {
    held.push({ sessionId, token, stopReason, pauseReason: null });
  };
  return { keeper, asked, hold, has, held };
}

describe('a lease that is held', () => {
  it('is renewed and looked after, as long as it is held', async () => {
    const { asked, hold, has } = rig();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(asked).toEqual({ renew: 0, signals: 0 });
    has('a', 1);
    const { release, lost } = hold('a', 1);
    await vi.advanceTimersByTimeAsync(1_250);
    expect(asked).toEqual({ renew: 4, signals: 12 });
    expect(lost).toEqual([]);
    release();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(asked).toEqual({ renew: 4, signals: 12 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('hears what others wish', async () => {
    const { hold, has, keeper } = rig();
    has('a', 1, 'enough');
    const { told } = hold('a', 1);
    keeper.signal('a', { stopReason: null, pauseReason: 'lunch' });
    keeper.signal('b', { stopReason: 'not ours', pauseReason: null });
    expect(told).toEqual([[null, 'lunch']]);
    await vi.advanceTimersByTimeAsync(150);
    expect(told).toEqual([
      [null, 'lunch'],
      ['enough', null],
    ]);
  });

  it.each([
    ['gone', []],
    ['taken', [['a', 2]]],
  ] as const)('is lost when it is %s', async (_how, rows) => {
    const { hold, has } = rig();
    for (const [id, token] of rows) has(id, token);
    has('b', 7);
    const [a, b] = [hold('a', 1), hold('b', 7)];
    await vi.advanceTimersByTimeAsync(150);
    expect(a.lost).toEqual(['stale_owner']);
    expect(b.lost).toEqual([]);
  });

  it('is not lost to a look that was under way before it was taken, or after it was released', async () => {
    let answer: (signals: LeaseSignal[]) => void = () => {};
    const { hold } = rig({ signals: () => new Promise((resolve) => (answer = resolve)) });
    const first = hold('a', 1);
    await vi.advanceTimersByTimeAsync(150);
    first.release();
    const second = hold('a', 2);
    answer([]);
    await vi.advanceTimersByTimeAsync(1);
    expect([first.lost, second.lost]).toEqual([[], []]);
  });

  it('outlives a store that does not answer for a moment', async () => {
    let isDown = true;
    const fails = async (): Promise<LeaseSignal[]> => {
      if (isDown) throw new Error('down');
      return [{ sessionId: 'a', token: 1, stopReason: 'now', pauseReason: null }];
    };
    const { hold, asked } = rig({ renew: fails, signals: fails });
    const { lost, told } = hold('a', 1);
    await vi.advanceTimersByTimeAsync(650);
    expect([lost, told]).toEqual([[], []]);
    isDown = false;
    await vi.advanceTimersByTimeAsync(300);
    expect(told.length).toBeGreaterThan(0);
    expect(asked.renew).toBe(3);
  });

  it('is renewed though a look for wishes hangs', async () => {
    const { hold, asked } = rig({ signals: () => new Promise(() => {}) });
    hold('a', 1);
    await vi.advanceTimersByTimeAsync(1_000);
    // one look at a time, whatever becomes of it
    expect(asked).toEqual({ renew: 3, signals: 1 });
  });
});

describe('a lease that is given back', () => {
  async function claimed() {
    const store = memoryStore();
    const session = {
      id: 'a',
      owner: 'o',
      agent: 'x',
      status: 'pending',
      executionId: null,
    } as const;
    await store.create({
      ...session,
      head: '{}',
      messageCount: 0,
      stepCount: 0,
      createdAt: '2026',
    });
    const command = { kind: 'message', executionId: 'e', body: '{}', at: '2026' } as const;
    await store.accept('a', command, { phases: ['idle'] });
    const row = await store.claim('a', { worker: 'w', ttlMs: 60_000 });
    return { store, row: row! };
  }

  it('is free at once, and the session as it was', async () => {
    const { store, row } = await claimed();
    await new LeaseKeeper(store, 'w', times).giveBack(row);
    expect(await store.find('a')).toMatchObject({ phase: 'open', worker: null, updatedAt: '2026' });
    expect(await store.recoverable({ agent: 'x', limit: 5 })).toMatchObject({ ids: ['a'] });
  });

  it('is left alone when somebody else has it', async () => {
    const { store, row } = await claimed();
    await new LeaseKeeper(store, 'w', times).giveBack({ ...row, token: row.token - 1 });
    await new LeaseKeeper(store, 'v', times).giveBack(row);
    expect((await store.find('a'))?.worker).toBe('w');
  });

  it('is tried again with the beats, until the store has heard of it', async () => {
    const { store, row } = await claimed();
    let fails = 2;
    const find: SessionStore['find'] = async (id) => {
      if (fails-- > 0) throw new Error('down');
      return store.find(id);
    };
    const keeper = new LeaseKeeper({ ...store, find }, 'w', times);
    // beats for another session would keep it alive otherwise
    keeper.hold({ sessionId: 'b', token: 9, signalled: () => {}, lost: () => {} });
    await keeper.giveBack(row);
    expect((await store.find('a'))?.worker).toBe('w');
    await vi.advanceTimersByTimeAsync(650);
    expect((await store.find('a'))?.worker).toBeNull();
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
