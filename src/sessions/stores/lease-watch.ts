/** A held lease as read from a store that machines share. Times are in milliseconds. */
export interface SeenLease {
  readonly id: string;
  readonly token: number;
  /** End of the lease by the clock of the store. Every renewal changes it, so it also identifies the heartbeat. */
  readonly until: number;
  /** How long the lease is valid without a heartbeat; 0 if the release that wrote it did not store it. */
  readonly leaseMs: number;
  /** Time after the lease during which no worker may claim the session. */
  readonly waitMs: number;
}

/** A reading of the store's clock, with the times of the request and the answer in this process. */
interface Reading {
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly storeNow: number;
}

interface Sighting {
  readonly token: number;
  readonly until: number;
  /** When the lease expires, by the clock of this process. */
  readonly goneAt: number;
  readonly waitMs: number;
  readonly seenAt: number;
}

/** Default lease length, for leases of release 0.1.0. */
const FIRST_LEASE_MS = 15_000;
/** Milliseconds that the clock of a store may drift between two sweeps without counting as changed. */
export const DRIFT_MS = 200;
/** Milliseconds after which a lease that is no longer seen is forgotten. */
const FORGET_MS = 600_000;
/** Number of sightings below which none are removed. */
const FEW_SIGHTINGS = 1_000;

/**
 * Detects expired leases without trusting a clock that can be changed. A lease has expired once this process has seen
 * the same heartbeat for the length of the lease, by its own monotonic clock. The holder stops earlier, by the same
 * measure. If the clock of the store has been steady all the time, that clock decides instead.
 */
export class LeaseWatch {
  readonly #monotonic: () => number;
  readonly #sightings: Map<string, Sighting> = new Map();
  #most = FEW_SIGHTINGS;
  #last: Reading | null = null;
  /** Time on the clock of the store since which it has been steady. */
  #steadySince: number = Number.POSITIVE_INFINITY;
  /** Time of the last sweep of each kind, on the clock of the store while it is steady. */
  readonly #sweptAt: Map<string, number> = new Map();
  /** Leases that ended after this time on the clock of the store were valid at the last sweep of this kind. */
  #endedAfter: number = Number.POSITIVE_INFINITY;

  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  get now(): number {
    return this.#monotonic();
  }

  /** Records a lease that this process claimed or extended. */
  wrote(lease: SeenLease): void {
    this.#remember(lease, this.now + lengthOf(lease));
  }

  /**
   * Whether a sweep of this kind should read all held leases, also those that are valid by the clock of the store. A
   * new process, or one whose store changed its clock, begins to measure them with that sweep.
   */
  isFirst(kind: string): boolean {
    return !this.#sweptAt.has(kind);
  }

  /**
   * Records a sweep, which reads all leases that might have expired, with the time on the clock of the store at which it
   * compared them. Sweeps of one `kind` read the leases of the same sessions. `hasMore` means that it did not read all.
   */
  sweeps(askedAt: number, storeNow: number, kind: string, hasMore: boolean = false): void {
    const last = this.#last;
    const reading = { askedAt, answeredAt: this.now, storeNow };
    const isSteady = last !== null && isTrue(last, reading);
    if (!isSteady) {
      this.#steadySince = storeNow;
      this.#sweptAt.clear();
    }
    this.#endedAfter = this.#sweptAt.get(kind) ?? Number.POSITIVE_INFINITY;
    // after a change of the clock, the next sweep is the first
    const leavesSome = hasMore && this.#sweptAt.has(kind);
    if ((isSteady || last === null) && !leavesSome) this.#sweptAt.set(kind, storeNow);
    this.#last = reading;
    this.#forget();
  }

  /**
   * Whether the lease has expired and its wait is over. The first sight of a heartbeat only starts the measurement. A
   * sweep that finds it ended by a steady clock also ends a measurement that a claim between two sweeps has started.
   */
  isOut(lease: SeenLease): boolean {
    const known = this.#sightings.get(lease.id);
    const isSame = known?.token === lease.token && known.until === lease.until;
    const measured = isSame ? known.goneAt : this.now + lengthOf(lease);
    const goneAt = this.#hasEnded(lease) ? Math.min(measured, this.now) : measured;
    this.#remember(lease, goneAt);
    return this.now >= goneAt + lease.waitMs;
  }

  /** Returns an expired lease as it was seen; null if it has not expired. Claim it only if it is unchanged. */
  outAsSeen(id: string): Pick<SeenLease, 'token' | 'until'> | null {
    const known = this.#sightings.get(id);
    return known && this.now >= known.goneAt + known.waitMs ? known : null;
  }

  /** Whether the lease has ended since the last sweep, by a clock that has been steady since its last heartbeat. */
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
    // the next removal is worth it only after many more
    this.#most = Math.max(FEW_SIGHTINGS, this.#sightings.size * 2);
  }
}

const lengthOf = ({ leaseMs }: SeenLease): number => (leaseMs > 0 ? leaseMs : FIRST_LEASE_MS);

/** Whether the same time has passed on both clocks. */
function isTrue(last: Reading, next: Reading): boolean {
  const there = next.storeNow - last.storeNow;
  const least = next.askedAt - last.answeredAt;
  const most = next.answeredAt - last.askedAt;
  return there >= least - DRIFT_MS && there <= most + DRIFT_MS;
}
