/** How long a session in quarantine waits for its turn, and others for its end, in milliseconds. */
export interface QuarantineTimes {
  /** For a moment in which nothing runs by itself; up to twice as long, so that not all workers stop at once. */
  readonly calmMs: number;
  /** For the end of what runs, while nothing new begins. */
  readonly holdMs: number;
  /** For the end of the steps that run: the rest of the work is handed over. */
  readonly leaveMs: number;
  /** After all that, others have the process for so long. */
  readonly restMs: number;
  /** How long a session runs alone before others may run beside it. */
  readonly aloneMs: number;
}

const defaultTimes: QuarantineTimes = {
  calmMs: 1_000,
  holdMs: 10_000,
  leaveMs: 30_000,
  restMs: 60_000,
  aloneMs: 60_000,
};

/** A session's place among those that this process works on. */
export interface Stay {
  readonly isAlone: boolean;
  /** Another session needs the process for itself: hand over after the step. */
  readonly mustLeave: boolean;
  /** The session has shown that it can run: others may run beside it. */
  share(): void;
  leave(): void;
}

interface Place extends Stay {
  mustLeave: boolean;
}

interface Waiter {
  readonly isAlone: boolean;
  settle(stay: Stay | null): void;
}

/** Keeps a session that has killed workers apart: while it runs, nothing else of this process does. */
export class Quarantine {
  readonly #times: QuarantineTimes;
  /** What runs beside each other. */
  readonly #company: Set<Place> = new Set();
  readonly #waiters: Map<string, Set<Waiter>> = new Map();
  #alone: Place | null = null;
  /** Whether nothing new begins, because a session waits for the end of what runs. */
  #isHeld = false;
  #restsUntil = 0;

  constructor(times: Partial<QuarantineTimes> = {}) {
    this.#times = { ...defaultTimes, ...times };
  }

  /** A place beside others, at once unless a session has the process for itself; null once it is closed. */
  join(sessionId: string): Stay | Promise<Stay | null> {
    if (this.#isShared) return this.#admitted(false);
    return this.#wait(sessionId, false, null);
  }

  /** The process for this session alone; null where it cannot be had now. */
  async isolate(sessionId: string): Promise<Stay | null> {
    const { calmMs, holdMs, leaveMs, restMs } = this.#times;
    if (this.#isCalm) return this.#admitted(true);
    const first = await this.#wait(sessionId, true, calmMs * (1 + Math.random()));
    if (first || this.#isHeld || performance.now() < this.#restsUntil) return first;
    this.#isHeld = true;
    try {
      const ended = await this.#wait(sessionId, true, holdMs);
      if (ended) return ended;
      for (const place of this.#company) place.mustLeave = true;
      const left = await this.#wait(sessionId, true, leaveMs);
      if (!left) this.#restsUntil = performance.now() + restMs;
      return left;
    } finally {
      this.#isHeld = false;
      for (const place of this.#company) place.mustLeave = false;
      this.#admitWaiting();
    }
  }

  /** For a session that is only stopped. */
  visit(): Stay {
    return visitor;
  }

  /** Lets a session that waits for its place go ahead: to stop it, nothing is run. */
  letPass(sessionId: string): void {
    for (const waiter of Array.from(this.#waiters.get(sessionId) ?? [])) waiter.settle(visitor);
  }

  /** Rejects every session that waits for a place. */
  close(): void {
    for (const waiters of Array.from(this.#waiters.values()))
      for (const waiter of Array.from(waiters)) waiter.settle(null);
  }

  get #isShared(): boolean {
    return this.#alone === null && !this.#isHeld;
  }
  get #isCalm(): boolean {
    return this.#alone === null && this.#company.size === 0;
  }

  #wait(sessionId: string, isAlone: boolean, mostMs: number | null): Promise<Stay | null> {
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(sessionId) ?? new Set();
      const waiter: Waiter = {
        isAlone,
        settle: (stay) => {
          clearTimeout(timer);
          waiters.delete(waiter);
          if (waiters.size === 0) this.#waiters.delete(sessionId);
          resolve(stay);
        },
      };
      const timer = mostMs === null ? undefined : setTimeout(() => waiter.settle(null), mostMs);
      this.#waiters.set(sessionId, waiters.add(waiter));
    });
  }

  /** Those who run beside each other first: sessions in quarantine never follow one another while others wait. */
  #admitWaiting(): void {
    const waiting = Array.from(this.#waiters.values(), (waiters) => [...waiters]).flat();
    for (const waiter of waiting)
      if (!waiter.isAlone && this.#isShared) waiter.settle(this.#admitted(false));
    const next = this.#isCalm ? waiting.find(({ isAlone }) => isAlone) : undefined;
    next?.settle(this.#admitted(true));
  }

  #admitted(isAlone: boolean): Stay {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const place: Place = {
      isAlone,
      mustLeave: false,
      share: () => {
        clearTimeout(timer);
        if (this.#alone !== place) return;
        this.#alone = null;
        this.#company.add(place);
        this.#admitWaiting();
      },
      leave: () => {
        clearTimeout(timer);
        if (this.#alone === place) this.#alone = null;
        this.#company.delete(place);
        this.#admitWaiting();
      },
    };
    if (!isAlone) this.#company.add(place);
    else {
      this.#alone = place;
      timer = setTimeout(() => place.share(), this.#times.aloneMs);
    }
    return place;
  }
}

/** Of a session that is only stopped. */
const visitor: Stay = { isAlone: false, mustLeave: false, share: () => {}, leave: () => {} };
