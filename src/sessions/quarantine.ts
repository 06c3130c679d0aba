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
  /** The same when a lost session waits that no other worker has taken. */
  readonly lostMs: number;
}

const defaultTimes: QuarantineTimes = {
  calmMs: 1_000,
  holdMs: 10_000,
  leaveMs: 30_000,
  restMs: 60_000,
  aloneMs: 60_000,
  lostMs: 500,
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
  readonly isLost: boolean;
  settle(stay: Stay | null): void;
}

/**
 * Isolates a session that has killed workers: while it runs, nothing else runs in this process, unless other processes
 * die and no other worker takes what they have left.
 */
export class Quarantine {
  readonly #times: QuarantineTimes;
  /** Sessions that run beside each other. */
  readonly #company: Set<Place> = new Set();
  readonly #waiters: Map<string, Set<Waiter>> = new Map();
  #alone: Place | null = null;
  /** Whether nothing new starts, because a session waits for the running ones to end. */
  #isHeld = false;
  /** Whether sessions hand over after their step. */
  #isLeaving = false;
  #restsUntil = 0;

  constructor(times: Partial<QuarantineTimes> = {}) {
    this.#times = { ...defaultTimes, ...times };
  }

  /**
   * Admits a session beside others, immediately unless one has the process for itself. A lost session, whose worker
   * died, waits for none that only wants it, and briefly for one that has it. Resolves with null on `close`, and on
   * `dismiss` if it is not lost.
   */
  join(sessionId: string, isLost: boolean = false): Stay | Promise<Stay | null> {
    if (this.#admits(isLost)) return this.#admitted(false);
    const stay = this.#wait(sessionId, { isAlone: false, isLost }, null);
    if (isLost) {
      const timer = setTimeout(() => this.#alone?.share(), this.#times.lostMs);
      void stay.finally(() => clearTimeout(timer));
    }
    return stay;
  }

  /** Lets up to this many waiting sessions go, which wait for their turn in the queue then. Lost ones stay. */
  dismiss(count: number): void {
    const waiting = this.#allWaiting().filter(({ isAlone, isLost }) => !isAlone && !isLost);
    for (const waiter of waiting.slice(0, count)) waiter.settle(null);
  }

  /** Admits a session alone. Resolves with null if the process cannot be freed now. */
  async isolate(sessionId: string): Promise<Stay | null> {
    const { calmMs, holdMs, leaveMs, restMs } = this.#times;
    if (this.#isCalm) return this.#admitted(true);
    const first = await this.#wait(
      sessionId,
      { isAlone: true, isLost: false },
      calmMs * (1 + Math.random()),
    );
    if (first || this.#isHeld || performance.now() < this.#restsUntil) return first;
    this.#isHeld = true;
    try {
      const ended = await this.#wait(sessionId, { isAlone: true, isLost: false }, holdMs);
      if (ended) return ended;
      this.#mustLeave(true);
      const left = await this.#wait(sessionId, { isAlone: true, isLost: false }, leaveMs);
      if (!left) this.#restsUntil = performance.now() + restMs;
      return left;
    } finally {
      this.#isHeld = false;
      this.#mustLeave(false);
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

  /** Whether a session may start beside others now. Nothing holds back a lost one but a session that runs alone. */
  #admits(isLost: boolean): boolean {
    return this.#alone === null && (isLost || !this.#isHeld);
  }
  get #isCalm(): boolean {
    return this.#alone === null && this.#company.size === 0;
  }

  #mustLeave(isLeaving: boolean): void {
    this.#isLeaving = isLeaving;
    for (const place of this.#company) place.mustLeave = isLeaving;
  }

  #allWaiting(): readonly Waiter[] {
    return Array.from(this.#waiters.values(), (waiters) => [...waiters]).flat();
  }

  #wait(
    sessionId: string,
    { isAlone, isLost }: Pick<Waiter, 'isAlone' | 'isLost'>,
    mostMs: number | null,
  ): Promise<Stay | null> {
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(sessionId) ?? new Set();
      const waiter: Waiter = {
        isAlone,
        isLost,
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
    const waiting = this.#allWaiting();
    for (const waiter of waiting)
      if (!waiter.isAlone && this.#admits(waiter.isLost)) waiter.settle(this.#admitted(false));
    const next = this.#isCalm ? waiting.find(({ isAlone }) => isAlone) : undefined;
    next?.settle(this.#admitted(true));
  }

  #admitted(isAlone: boolean): Stay {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const place: Place = {
      isAlone,
      mustLeave: !isAlone && this.#isLeaving,
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
