import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { advanced, codeOf, down, leaseRig, silent } from '../../test/setup/lease-keepers.ts';
import { Lease, thisMoment } from './lease.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the proof of a lease', () => {
  it('counts from the request, not from the answer', async () => {
    const { hold, faults, store, take } = leaseRig();
    const { lease } = await hold('a');
    faults.renew = async (given) => {
      const answer = await store.renew(given);
      await new Promise((resolve) => setTimeout(resolve, 320));
      return answer;
    };
    await vi.advanceTimersByTimeAsync(700); // asked at 300, answered at 620
    expect(lease.confirm()).toBeUndefined();
    Object.assign(faults, { renew: down, signals: down });
    await vi.advanceTimersByTimeAsync(460); // 860 after the last request that was answered
    expect(await codeOf(advanced(lease.confirm()))).toBe('down');
    expect(await take('a')).not.toBeNull();
  });

  it('is separate for each session', async () => {
    const { hold, faults, store } = leaseRig();
    const [a, b] = [await hold('a'), await hold('b')];
    // the store extends one of two
    faults.renew = async ({ leases, ...given }) => {
      const renewed = await store.renew({ ...given, leases: leases.filter(isOf('b')) });
      const signal = { stopReason: null, pauseReason: null, isBusy: true } as const;
      return [...renewed, ...leases.filter(isOf('a')).map((lease) => ({ ...lease, ...signal }))];
    };
    await vi.advanceTimersByTimeAsync(950);
    expect([a.lease.isLeaseValid, b.lease.isLeaseValid]).toEqual([false, true]);
    expect(a.lost).toEqual([]);
    expect(b.lease.confirm()).toBeUndefined();
    expect(await codeOf(advanced(a.lease.confirm()))).toBe('store_failed');
  });

  it.each([
    ['fails', down],
    ['does not answer', silent],
  ])('is refused when the lease may have expired and the store %s', async (_, renew) => {
    const { hold, faults } = leaseRig();
    const { lease } = await hold('a');
    Object.assign(faults, { renew, signals: renew });
    await vi.advanceTimersByTimeAsync(1_500);
    expect(await codeOf(advanced(lease.confirm()))).toMatch(/down|store_failed/);
  });

  it('is requested after a failed heartbeat, even if the lease has not expired', async () => {
    const { hold, faults, asked } = leaseRig();
    const { lease } = await hold('a');
    faults.renew = down;
    await vi.advanceTimersByTimeAsync(310);
    delete faults.renew;
    expect(lease.isLeaseValid).toBe(false);
    const before = asked.renew;
    expect(await codeOf(lease.confirm())).toBe('proven');
    expect(lease.confirm()).toBeUndefined();
    expect(asked.renew).toBe(before + 1);
  });

  it('is not revoked by the failure of an older request', async () => {
    const { hold, faults } = leaseRig();
    const { lease } = await hold('a');
    let fail: (error: Error) => void = () => {};
    faults.renew = () => new Promise((_, reject) => (fail = reject));
    await vi.advanceTimersByTimeAsync(310);
    await vi.advanceTimersByTimeAsync(640); // nearly the whole lease
    delete faults.renew;
    await lease.confirm();
    fail(new Error('late'));
    await vi.advanceTimersByTimeAsync(0);
    expect(lease.isLeaseValid).toBe(true);
  });

  it.each([
    ['a stall', (ms: number) => vi.setSystemTime(Date.now() + ms)],
    ['a clock that was set an hour ahead', () => vi.setSystemTime(Date.now() + 3_600_000)],
  ])('is requested after %s', async (_, happens) => {
    const { hold } = leaseRig();
    const { lease } = await hold('a');
    happens(1_000);
    expect(lease.isLeaseValid).toBe(false);
    expect(await codeOf(lease.confirm())).toBe('proven');
    expect(lease.confirm()).toBeUndefined();
  });

  it('does not last longer after the clock is set back', async () => {
    const { hold, faults } = leaseRig();
    const { lease } = await hold('a');
    vi.setSystemTime(Date.now() - 3_600_000);
    expect(lease.confirm()).toBeUndefined();
    Object.assign(faults, { renew: silent, signals: silent });
    await vi.advanceTimersByTimeAsync(950);
    expect(lease.isLeaseValid).toBe(false);
  });

  it.each([
    ['unchanged', 0],
    ['an hour behind', -3_600_000],
  ])('ends with the lease by the monotonic clock, with the wall clock %s', async (_, jump) => {
    const { hold } = leaseRig();
    const lease = new Lease((await hold('a')).lease.row, 1_000, thisMoment(), silent);
    vi.setSystemTime(Date.now() + jump);
    vi.advanceTimersByTime(850);
    expect([lease.isLeaseValid, lease.hasRunOut]).toEqual([true, false]);
    vi.advanceTimersByTime(100);
    expect([lease.isLeaseValid, lease.hasRunOut]).toEqual([false, false]);
    vi.advanceTimersByTime(100);
    expect(lease.hasRunOut).toBe(true);
  });

  it('of an older request neither shortens a newer proof nor clears a doubt', async () => {
    const { hold } = leaseRig();
    const older = thisMoment();
    const lease = new Lease((await hold('a')).lease.row, 1_000, older, silent);
    vi.advanceTimersByTime(300);
    const newer = thisMoment();
    lease.proven(newer);
    lease.proven(older);
    vi.advanceTimersByTime(800);
    expect(lease.isLeaseValid).toBe(true);
    lease.doubted(newer);
    lease.proven(older);
    expect(lease.isLeaseValid).toBe(false);
  });

  it('is requested once for all concurrent callers', async () => {
    const { hold, asked } = leaseRig();
    const { lease } = await hold('a');
    vi.setSystemTime(Date.now() + 1_000);
    await Promise.all(Array.from({ length: 8 }, async () => lease.confirm()));
    expect(asked.renew).toBe(1);
  });

  it('is refused after the lease was dropped', async () => {
    const { hold, keeper } = leaseRig();
    const { lease } = await hold('a');
    keeper.drop(lease);
    expect(await codeOf(lease.confirm())).toBe('stale_owner');
  });
});

const isOf =
  (id: string) =>
  ({ sessionId }: { readonly sessionId: string }): boolean =>
    sessionId === id;
