/** A lease that a worker holds, as it was found in a store that many machines share. */
export interface SeenLease {
  readonly id: string;
  readonly token: number;
  /** By the clock of the store. Every renewal changes it, so it also tells one beat from the next. */
  readonly until: number;
  /** How long it is good without a beat; 0 where the release that wrote it did not say. */
  readonly leaseMs: number;
  /** How long the session is left alone after that. */
  readonly waitMs: number;
}

/** A moment of this process, and what the clock of the store said in it. */
interface Reading {
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly storeNow: number;
}

interface Sighting {
  readonly token: number;
  readonly until: number;
  /** When the lease has run out, by the clock of this process. */
  readonly goneAt: number;
  readonly waitMs: number;
  readonly seenAt: number;
}

/** The default of a runtime, for leases of release 0.1.0. */
const FIRST_LEASE_MS = 15_000;
/** The clock of a store may drift by this much from one sweep to the next without having been set. */
export const DRIFT_MS = 200;
/** What was not seen for this long is no lease any more. */
const FORGET_MS = 600_000;
/** Below this it is not worth a look. */
const FEW_SIGHTINGS = 1_000;

/**
 * Says when leases have run out without trust in a clock that can be set. A lease is out once this process has seen the
 * same beat for the length of the lease, by its own monotonic clock: its holder stops before that, by the same count.
 * It need not watch that long where the clock of the store has run true all the while: then the word of that clock counts.
 */
export class LeaseWatch {
  readonly #monotonic: () => number;
  readonly #sightings: Map<string, Sighting> = new Map();
  #most = FEW_SIGHTINGS;
  #last: Reading | null = null;
  /** Since when the clock of the store has run true, by itself. */
  #steadySince: number = Number.POSITIVE_INFINITY;
  /** Leases that ended behind this time, by the clock of the store, were good at the last sweep. */
  #endedAfter: number = Number.POSITIVE_INFINITY;

  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  get now(): number {
    return this.#monotonic();
  }

  /** A lease was claimed or extended through here. */
  wrote(lease: SeenLease): void {
    this.#remember(lease, this.now + lengthOf(lease));
  }

  /** All leases that might have run out are read now; the clock of the store said this in answer. */
  sweeps(askedAt: number, storeNow: number): void {
    const last = this.#last;
    const reading = { askedAt, answeredAt: this.now, storeNow };
    const isSteady = last !== null && isTrue(last, reading);
    if (!isSteady) this.#steadySince = storeNow;
    this.#endedAfter = isSteady ? last.storeNow : Number.POSITIVE_INFINITY;
    this.#last = reading;
    this.#forget();
  }

  /** Whether it has run out, and its wait is over. The first look at a beat only begins the count. */
  isOut(lease: SeenLease): boolean {
    const known = this.#sightings.get(lease.id);
    const isSame = known?.token === lease.token && known.until === lease.until;
    const goneAt = isSame ? known.goneAt : this.now + (this.#hasEnded(lease) ? 0 : lengthOf(lease));
    this.#remember(lease, goneAt);
    return this.now >= goneAt + lease.waitMs;
  }

  /** What is known to have run out: to be claimed only as it was seen. */
  outAsSeen(id: string): Pick<SeenLease, 'token' | 'until'> | null {
    const known = this.#sightings.get(id);
    return known && this.now >= known.goneAt + known.waitMs ? known : null;
  }

  /** By a clock that has run true since the last beat, and at the last sweep it was still good. */
  #hasEnded(lease: SeenLease): boolean {
    const { until, leaseMs } = lease;
    const storeNow = this.#last?.storeNow ?? 0;
    const isOver = until <= storeNow && until > this.#endedAfter;
    return isOver && leaseMs > 0 && until - leaseMs >= this.#steadySince;
  }

  #remember({ id, token, until, waitMs }: SeenLease, goneAt: number): void {
    this.#sightings.set(id, { token, until, goneAt, waitMs, seenAt: this.now });
  }

  #forget(): void {
    if (this.#sightings.size < this.#most) return;
    const before = this.now - FORGET_MS;
    for (const [id, { seenAt, goneAt }] of this.#sightings)
      if (Math.max(seenAt, goneAt) < before) this.#sightings.delete(id);
    // the next look pays only when there are many more
    this.#most = Math.max(FEW_SIGHTINGS, this.#sightings.size * 2);
  }
}

const lengthOf = ({ leaseMs }: SeenLease): number => (leaseMs > 0 ? leaseMs : FIRST_LEASE_MS);

/** Whether as much time has passed there as here. */
function isTrue(last: Reading, next: Reading): boolean {
  const there = next.storeNow - last.storeNow;
  const least = next.askedAt - last.answeredAt;
  const most = next.answeredAt - last.askedAt;
  return there >= least - DRIFT_MS && there <= most + DRIFT_MS;
}
