import { describe, expect, it } from 'vitest';
import { DRIFT_MS, LeaseWatch, type SeenLease } from './lease-watch.ts';

const HOUR = 3_600_000;
const LEASE_MS = 15_000;
/** The clock of the store when this process began to count. */
const STORE = 1_800_000_000_000;

/** A process that sweeps, beside a store whose clock can be set. */
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
  /** As a sweep of PostgreSQL does it: what is good by the clock of the store is not looked at. */
  const isTaken = (seen: SeenLease): boolean => {
    watch.sweeps(here, storeNow());
    const isInFuture = seen.leaseMs > 0 && seen.until - seen.leaseMs > storeNow() + 1_000;
    return (seen.until <= storeNow() || isInFuture) && watch.isOut(seen);
  };
  /** Milliseconds until a sweep takes it; sweeps each second. */
  const takenAfter = (seen: SeenLease, mostMs: number): number | null => {
    for (let ms = 0; ms <= mostMs; ms += 1_000, here += 1_000) if (isTaken(seen)) return ms;
    return null;
  };
  return {
    watch,
    lease,
    isTaken,
    takenAfter,
    pass: (ms: number) => void (here += ms),
    set: (ms: number) => void (ahead += ms),
  };
}

describe('LeaseWatch', () => {
  it('takes the word of a clock that has run true since the last beat', () => {
    const { lease, takenAfter, pass } = setUp();
    expect(takenAfter(lease(), 3_000)).toBeNull();
    const dead = lease();
    pass(500);
    expect(takenAfter(dead, 60_000)).toBe(LEASE_MS);
  });

  it.each([HOUR, -HOUR, 24 * HOUR, -24 * HOUR])(
    'a clock that is set by %d ms costs a dead worker one lease, and two sweeps at most',
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
    'a clock that is set by %d ms takes nothing from a worker that beats',
    (jump) => {
      const { lease, isTaken, pass, set } = setUp();
      let beat = lease();
      for (let ms = 0; ms < 120_000; ms += 1_000) {
        if (ms % 5_000 === 0) beat = lease();
        if (ms === 33_000) set(jump);
        if (ms === 34_000) set(-jump); // and back before the next beat
        if (ms === 61_000) set(jump);
        expect(isTaken(beat)).toBe(false);
        pass(1_000);
      }
    },
  );

  it('a beat that was written while the clock was wrong, unseen by us, is watched', () => {
    const { lease, isTaken, takenAfter, pass, set } = setUp();
    expect(isTaken(lease())).toBe(false);
    pass(60_000);
    expect(isTaken(lease())).toBe(false);
    // set back, a beat, and forth again between two sweeps
    set(-30_000);
    const healthy = lease();
    set(30_000);
    pass(900);
    expect(isTaken(healthy)).toBe(false);
    expect(takenAfter(healthy, 60_000)).toBe(LEASE_MS);
  });

  it('a process that has just begun waits one lease, however long ago a lease has ended', () => {
    const { lease, takenAfter, pass } = setUp();
    const old = lease();
    pass(10 * HOUR);
    expect(takenAfter(old, 60_000)).toBe(LEASE_MS);
  });

  it('counts what was written through it from then on, and its wait', () => {
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

  it('a new beat, or a new holder, begins the count anew', () => {
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
    'a clock that is set ahead by less than a lease shortens none that was written before (lease_ms %d)',
    (leaseMs) => {
      const { lease, isTaken, takenAfter, pass, set } = setUp();
      expect(isTaken(lease({ id: 'other' }))).toBe(false);
      pass(1_000);
      const healthy = lease({ leaseMs });
      set(10_000);
      expect(takenAfter(healthy, 60_000)).toBeGreaterThanOrEqual(LEASE_MS);
    },
  );

  it('a lease of release 0.1.0, which does not say how long it is, has 15 seconds', () => {
    const { lease, takenAfter, pass } = setUp();
    const old = lease({ leaseMs: 0 });
    pass(LEASE_MS);
    expect(takenAfter(old, 60_000)).toBe(15_000);
  });

  it.each([
    [DRIFT_MS / 2, LEASE_MS],
    [-DRIFT_MS / 2, LEASE_MS + 1_000],
  ])('a drift of %d ms is no jump', (drift, expected) => {
    const { lease, takenAfter, set } = setUp();
    takenAfter(lease(), 3_000);
    const dead = lease();
    set(drift);
    expect(takenAfter(dead, 60_000)).toBe(expected);
  });

  it('forgets what is not asked for', () => {
    const { watch, lease, pass, isTaken } = setUp();
    for (let n = 0; n < 2_000; n++) watch.wrote(lease({ id: `s${n}` }));
    pass(HOUR);
    expect(watch.outAsSeen('s0')).not.toBeNull();
    isTaken(lease());
    expect(watch.outAsSeen('s0')).toBeNull();
  });

  it('does not forget a long lease before it has run out', () => {
    const { watch, lease, pass, isTaken } = setUp();
    for (let n = 0; n < 2_000; n++) watch.wrote(lease({ id: `s${n}`, leaseMs: HOUR }));
    pass(HOUR / 2);
    isTaken(lease());
    pass(HOUR / 2);
    expect(watch.outAsSeen('s0')).not.toBeNull();
  });
});
