/** How long a quarantined session waits for its turn, and others for its end, in milliseconds. */
export interface QuarantineTimes {
  /**
   * Wait for a moment in which nothing runs. Randomized up to twice as long, so that not all workers stop at the same
   * time.
   */
  readonly calmMs: number;
  /** Wait for running sessions to end, while nothing new starts. */
  readonly holdMs: number;
  /** Wait for running steps to end. The rest of their work is handed over. */
  readonly leaveMs: number;
  /** Time that other sessions have the process after these waits failed. */
  readonly restMs: number;
  /** Time that a session runs alone before others may run beside it. */
  readonly aloneMs: number;
}

const defaultTimes: QuarantineTimes = {
  calmMs: 1_000,
  holdMs: 10_000,
  leaveMs: 30_000,
  restMs: 60_000,
  aloneMs: 60_000,
};

/** A session's admission to this process. */
export interface Stay {
  readonly isAlone: boolean;
  /** Whether the session must hand over after its step, because another one needs the process for itself. */
  readonly mustLeave: boolean;
  /** Lets other sessions run beside this one. */
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

/** Isolates a session that has killed workers: while it runs, nothing else runs in this process. */
export class Quarantine {
  readonly #times: QuarantineTimes;
  /** Sessions that run beside each other. */
  readonly #company: Set<Place> = new Set();
  readonly #waiters: Map<string, Set<Waiter>> = new Map();
  #alone: Place | null = null;
  /** Whether nothing new starts, because a session waits for the running ones to end. */
  #isHeld = false;
  #restsUntil = 0;

  constructor(times: Partial<QuarantineTimes> = {}) {
    this.#times = { ...defaultTimes, ...times };
  }

  /**
   * Admits a session beside others, immediately unless one has the process for itself. Resolves with null on `close`.
   */
  join(sessionId: string): Stay | Promise<Stay | null> {
    if (this.#isShared) return this.#admitted(false);
    return this.#wait(sessionId, false, null);
  }

  /** Admits a session alone. Resolves with null if the process cannot be freed now. */
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

  /** Admits a session that is only stopped. */
  visit(): Stay {
    return visitor;
  }

  /** Admits a waiting session in order to stop it, which runs nothing. */
  letPass(sessionId: string): void {
    for (const waiter of Array.from(this.#waiters.get(sessionId) ?? [])) waiter.settle(visitor);
  }

  /** Settles every waiting session with null. */
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

  /** Admits shared sessions first, so that quarantined sessions never run back to back while others wait. */
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

/** The stay of a session that is only stopped. */
const visitor: Stay = { isAlone: false, mustLeave: false, share: () => {}, leave: () => {} };
