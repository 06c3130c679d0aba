/** Milliseconds of waiting that count as much as one earlier session of the same owner. */
const UNIT_MS = 15_000;
/**
 * Range of each half of the priorities. BullMQ has 2 ** 21 of them: half for time, which wraps around after 182 days,
 * and half for sessions.
 */
const RANGE = 2 ** 20 - 1;
/**
 * Priorities of sessions in a queue that processes share, lowest first. A priority is the time at which the session was
 * added, in units of 15 seconds, plus one for each earlier session of the same owner that this process added and that
 * may still wait. So the first sessions of all owners come before their second ones, and a session that has waited long
 * enough comes before new ones.
 */
export class OwnerPriorities {
  /** Unit of the newest session of each owner, in units since the epoch. */
  readonly #newest: Map<string, number> = new Map();
  readonly #now: () => number;
  #forgotAt = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Returns the priority of an owner's next session. `waiting` is the most sessions of all owners that may wait. */
  next(owner: string, waiting: number): number {
    const now = Math.floor(this.#now() / UNIT_MS);
    this.#forget(now);
    const before = this.#newest.get(owner) ?? now - 1;
    const unit = Math.min(Math.max(now, before + 1), now + waiting, now + RANGE);
    this.#newest.set(owner, unit);
    // 0 is for urgent sessions
    return 1 + (now % RANGE) + (unit - now);
  }

  /**
   * Returns how many sessions of an owner may still wait, of those that this process added. `waiting` is the number of
   * waiting sessions of all owners.
   */
  waitingOf(owner: string, waiting: number): number {
    const now = Math.floor(this.#now() / UNIT_MS);
    const newest = this.#newest.get(owner) ?? now - 1;
    return Math.max(0, Math.min(newest - now + 1, waiting));
  }

  /** Number of owners that are remembered. */
  get size(): number {
    return this.#newest.size;
  }

  #forget(now: number): void {
    if (this.#forgotAt === now) return;
    this.#forgotAt = now;
    for (const [owner, unit] of this.#newest) if (unit < now) this.#newest.delete(owner);
  }
}
