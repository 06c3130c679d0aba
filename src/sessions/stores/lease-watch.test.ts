import { describe, expect, it } from 'vitest';
import { DRIFT_MS, LeaseWatch, type SeenLease } from './lease-watch.ts';

const HOUR = 3_600_000;
const LEASE_MS = 15_000;
/** Time on the clock of the store at the start of the test. */
const STORE = 1_800_000_000_000;

/** Creates a process that sweeps a store whose clock can be changed. */
function setUp() {
  let here = 5_000;
  let ahead = 0;
  const watch = new LeaseWatch(() => here);
  const storeNow = (): number => STORE + here + ahead;
  const lease = (patch: Partial<SeenLease> = {}): SeenLease => ({
    id: 's',
    token: 7,
    until: storeNow() + LEASE_MS,
    leaseMs: LEASE_MS,
    waitMs: 0,
    ...patch,
  });
  /** Sweeps like PostgreSQL: only the first sweep checks leases that are valid by the clock of the store. */
  const isTaken = (seen: SeenLease): boolean => {
    const isFirst = watch.isFirst('support');
    watch.sweeps(here, storeNow(), 'support');
    const isInFuture = seen.leaseMs > 0 && seen.until - seen.leaseMs > storeNow() + 1_000;
    return (isFirst || seen.until <= storeNow() || isInFuture) && watch.isOut(seen);
  };
  /** Returns the milliseconds until a sweep takes the lease, with a sweep each second. */
  const takenAfter = (seen: SeenLease, mostMs: number): number | null => {
    for (let ms = 0; ms <= mostMs; ms += 1_000, here += 1_000) if (isTaken(seen)) return ms;
    return null;
  };
  return {
    watch,
    lease,
    isTaken,
    takenAfter,
    /** A sweep that does not read the lease. */
    sweepOthers: () => watch.sweeps(here, storeNow(), ''),
    /** A sweep that reads only some of the leases that might have expired. */
    sweepSome: () => watch.sweeps(here, storeNow(), 'support', true),
    pass: (ms: number) => void (here += ms),
    set: (ms: number) => void (ahead += ms),
  };
}

describe('LeaseWatch', () => {
  it('trusts a clock that has been steady since the last heartbeat', () => {
    const { lease, takenAfter, pass } = setUp();
    expect(takenAfter(lease(), 3_000)).toBeNull();
    const dead = lease();
    pass(500);
    expect(takenAfter(dead, 60_000)).toBe(LEASE_MS);
  });

  it('does so beside sweeps that read other leases', () => {
    const { watch, lease, takenAfter, isTaken, sweepOthers, pass } = setUp();
    expect(takenAfter(lease(), 3_000)).toBeNull();
    const dead = lease();
    for (let ms = 0; ms < LEASE_MS; ms += 1_000, pass(1_000)) {
      sweepOthers();
      expect(isTaken(dead)).toBe(false);
    }
    sweepOthers();
    pass(1);
    expect(isTaken(dead)).toBe(true);
    expect(watch.outAsSeen('s')).toMatchObject({ token: 7 });
  });

  it.each([HOUR, -HOUR, 24 * HOUR, -24 * HOUR])(
    'delays the takeover from a dead worker by at most one lease if the clock jumps by %d ms',
    (jump) => {
      for (const deadForMs of [0, 7_000, 14_999]) {
        const { lease, takenAfter, pass, set } = setUp();
        expect(takenAfter(lease(), 3_000)).toBeNull();
        const dead = lease();
        expect(takenAfter(dead, deadForMs)).toBeNull();
        set(jump);
        pass(10);
        const taken = takenAfter(dead, 10 * HOUR) ?? Infinity;
        expect(taken).toBeGreaterThanOrEqual(LEASE_MS - deadForMs);
        expect(taken).toBeLessThanOrEqual(LEASE_MS + 1_000);
      }
    },
  );

  it.each([HOUR, -HOUR, 24 * HOUR, -24 * HOUR])(
    'takes no lease from a live worker if the clock jumps by %d ms',
    (jump) => {
      const { lease, isTaken, pass, set } = setUp();
      let beat = lease();
      for (let ms = 0; ms < 120_000; ms += 1_000) {
        if (ms % 5_000 === 0) beat = lease();
        if (ms === 33_000) set(jump);
        if (ms === 34_000) set(-jump); // and back before the next heartbeat
        if (ms === 61_000) set(jump);
        expect(isTaken(beat)).toBe(false);
        pass(1_000);
      }
    },
  );

  it('watches a lease that was renewed while the clock was wrong between two sweeps', () => {
    const { lease, isTaken, takenAfter, pass, set } = setUp();
    expect(isTaken(lease())).toBe(false);
    pass(60_000);
    expect(isTaken(lease())).toBe(false);
    // set back, a heartbeat, and set forward again between two sweeps
    set(-30_000);
    const healthy = lease();
    set(30_000);
    pass(900);
    expect(isTaken(healthy)).toBe(false);
    expect(takenAfter(healthy, 60_000)).toBe(LEASE_MS);
  });

  it('takes an expired lease with the next sweep, even if a claim has looked at it before', () => {
    const { watch, lease, isTaken, takenAfter, pass } = setUp();
    expect(takenAfter(lease(), 3_000)).toBeNull();
    const dead = lease();
    expect(takenAfter(dead, LEASE_MS - 1_000)).toBeNull();
    pass(100);
    // a wake-up comes when the lease has ended and no sweep has seen that
    expect(watch.isOut(dead)).toBe(false);
    pass(900);
    expect(isTaken(dead)).toBe(true);
  });

  it('takes expired leases that an earlier sweep had left to the next one', () => {
    const { watch, lease, isTaken, takenAfter, pass, sweepSome } = setUp();
    expect(takenAfter(lease(), 3_000)).toBeNull();
    const [first, second] = [lease({ id: 'first' }), lease({ id: 'second' })];
    for (let ms = 0; ms < LEASE_MS; ms += 1_000, pass(1_000)) expect(isTaken(first)).toBe(false);
    sweepSome();
    expect(watch.isOut(first)).toBe(true);
    pass(1_000);
    expect(isTaken(second)).toBe(true);
  });

  it('waits one lease in a new process, however long ago the lease expired', () => {
    const { lease, takenAfter, pass } = setUp();
    const old = lease();
    pass(10 * HOUR);
    expect(takenAfter(old, 60_000)).toBe(LEASE_MS);
  });

  it('waits one lease in a process that starts after the worker died', () => {
    const { lease, takenAfter, pass } = setUp();
    const dead = lease();
    pass(LEASE_MS / 2);
    expect(takenAfter(dead, 60_000)).toBe(LEASE_MS);
  });

  it('measures a lease that this process wrote from that moment, including its wait', () => {
    const { watch, lease, pass } = setUp();
    const own = lease({ waitMs: 1_000 });
    watch.wrote(own);
    pass(LEASE_MS);
    expect(watch.isOut(own)).toBe(false);
    expect(watch.outAsSeen('s')).toBeNull();
    expect(watch.isOut({ ...own, waitMs: 0 })).toBe(true);
    pass(1_000);
    expect(watch.isOut(own)).toBe(true);
    expect(watch.outAsSeen('s')).toMatchObject({ token: own.token, until: own.until });
    expect(watch.outAsSeen('other')).toBeNull();
  });

  it('restarts the measurement with a new heartbeat or a new holder', () => {
    const { watch, lease, pass } = setUp();
    const first = lease();
    watch.wrote(first);
    pass(LEASE_MS);
    expect(watch.isOut({ ...first, until: first.until + 5 })).toBe(false);
    expect(watch.isOut(first)).toBe(false);
    pass(LEASE_MS);
    expect(watch.isOut({ ...first, token: 8 })).toBe(false);
  });

  it.each([LEASE_MS, 0])(
    'does not shorten a lease if the clock is set ahead by less than a lease (lease_ms %d)',
    (leaseMs) => {
      const { lease, isTaken, takenAfter, pass, set } = setUp();
      expect(isTaken(lease({ id: 'other' }))).toBe(false);
      pass(1_000);
      const healthy = lease({ leaseMs });
      set(10_000);
      expect(takenAfter(healthy, 60_000)).toBeGreaterThanOrEqual(LEASE_MS);
    },
  );

  it('assumes 15 seconds for a lease of release 0.1.0, which has no length', () => {
    const { lease, takenAfter, pass } = setUp();
    const old = lease({ leaseMs: 0 });
    pass(LEASE_MS);
    expect(takenAfter(old, 60_000)).toBe(15_000);
  });

  it.each([
    [DRIFT_MS / 2, LEASE_MS],
    [-DRIFT_MS / 2, LEASE_MS + 1_000],
  ])('does not treat a drift of %d ms as a jump', (drift, expected) => {
    const { lease, takenAfter, set } = setUp();
    takenAfter(lease(), 3_000);
    const dead = lease();
    set(drift);
    expect(takenAfter(dead, 60_000)).toBe(expected);
  });

  it('forgets leases that are no longer seen', () => {
    const { watch, lease, pass, isTaken } = setUp();
    for (let n = 0; n < 2_000; n++) watch.wrote(lease({ id: `s${n}` }));
    pass(HOUR);
    expect(watch.outAsSeen('s0')).not.toBeNull();
    isTaken(lease());
    expect(watch.outAsSeen('s0')).toBeNull();
  });

  it('does not forget a long lease before it expires', () => {
    const { watch, lease, pass, isTaken } = setUp();
    for (let n = 0; n < 2_000; n++) watch.wrote(lease({ id: `s${n}`, leaseMs: HOUR }));
    pass(HOUR / 2);
    isTaken(lease());
    pass(HOUR / 2);
    expect(watch.outAsSeen('s0')).not.toBeNull();
  });
});
