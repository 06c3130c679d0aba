import { invalidOption, positive } from '../errors/agent-error.ts';
import type { SessionRow } from './session-rows.ts';
import type { LeaseSignal, SessionStore } from './session-store.ts';
import { staleOwner } from './stores/store-errors.ts';

export interface LeaseTimes {
  /** How long a lease is good without a heartbeat. Default 15 seconds. */
  readonly leaseMs: number;
  /** Default 5 seconds. */
  readonly heartbeatMs: number;
  /** How often a running execution looks for a stop or pause from elsewhere. Default 400 milliseconds. */
  readonly signalMs: number;
}

const defaultLeaseTimes: LeaseTimes = {
  leaseMs: 15_000,
  heartbeatMs: 5_000,
  signalMs: 400,
};

/** Two beats may be missed before a lease runs out. */
export function checkedLeaseTimes(given: Partial<LeaseTimes> = {}): LeaseTimes {
  const times = { ...defaultLeaseTimes, ...given };
  for (const [name, ms] of Object.entries(times)) positive(`lease ${name}`, ms);
  const { leaseMs, heartbeatMs } = times;
  if (leaseMs >= 2 * heartbeatMs) return times;
  throw invalidOption('lease leaseMs', leaseMs, `at least twice the heartbeatMs of ${heartbeatMs}`);
}

/** An execution that this process works on. */
export interface HeldLease {
  readonly sessionId: string;
  readonly token: number;
  signalled(signal: Pick<LeaseSignal, 'stopReason' | 'pauseReason'>): void;
  lost(error: unknown): void;
}

/** Keeps the leases of one worker alive and carries wishes of other processes to its executions. */
export class LeaseKeeper {
  readonly #store: SessionStore;
  readonly #worker: string;
  readonly #times: LeaseTimes;
  readonly #held: Map<string, HeldLease> = new Map();
  /** Leases that nobody works under any more, and of which the store has not heard yet. */
  readonly #givenUp: Map<string, number> = new Map();
  /** When the last beat was sent that the store has heard. */
  #renewedAt = 0;
  #timers: ReturnType<typeof setInterval>[] = [];

  constructor(store: SessionStore, worker: string, times: LeaseTimes) {
    this.#store = store;
    this.#worker = worker;
    this.#times = times;
  }

  hold(lease: HeldLease): () => void {
    this.#held.set(lease.sessionId, lease);
    if (this.#timers.length === 0) this.#startTimers();
    return () => {
      if (this.#held.get(lease.sessionId) === lease) this.#held.delete(lease.sessionId);
      if (this.#held.size === 0) this.#stopTimers();
    };
  }

  /**
   * Before something begins that cannot be taken back: a process that slept, or whose turn was held up for longer than
   * the lease lasts, learns here that it was replaced. `claimedAt` is when the lease was asked for.
   */
  confirm(claimedAt: number): Promise<void> | undefined {
    return this.isSure(claimedAt) ? undefined : this.#look(() => this.#renew());
  }

  /** Whether nobody else can have the session, by our own clock. */
  isSure(claimedAt: number): boolean {
    return Date.now() - Math.max(claimedAt, this.#renewedAt) < this.#times.leaseMs;
  }

  /** A wish from this process need not wait for the next look. */
  signal(sessionId: string, signal: Pick<LeaseSignal, 'stopReason' | 'pauseReason'>): void {
    this.#held.get(sessionId)?.signalled(signal);
  }

  /** Lets others take up work that failed here; without this, beats for other sessions would keep its lease alive. */
  giveBack({ id, token }: Pick<SessionRow, 'id' | 'token'>): Promise<void> {
    this.#givenUp.set(id, token);
    return this.#giveAllBack();
  }

  async #giveAllBack(): Promise<void> {
    for (const [id, token] of this.#givenUp)
      try {
        const row = await this.#store.find(id);
        if (row?.token === token && row.worker === this.#worker) {
          const { revision, updatedAt: at } = row;
          await this.#store.commit({ sessionId: id, token, revision, at, end: 'handover' });
        }
        this.#givenUp.delete(id);
      } catch {
        // tried again with the next beat
      }
  }

  #startTimers(): void {
    const worker = this.#worker;
    const { heartbeatMs, signalMs } = this.#times;
    const every = (ms: number, ask: () => Promise<readonly LeaseSignal[]>): void => {
      let isAsking = false;
      const beat = async (): Promise<void> => {
        if (isAsking) return;
        isAsking = true;
        await this.#look(ask);
        isAsking = false;
      };
      this.#timers.push(setInterval(() => void beat(), ms));
    };
    every(heartbeatMs, async () => {
      await this.#giveAllBack();
      return this.#renew();
    });
    every(signalMs, () => this.#store.signals(worker));
  }

  async #renew(): Promise<readonly LeaseSignal[]> {
    const at = Date.now();
    const ttlMs = this.#times.leaseMs;
    const signals = await this.#store.renew({ worker: this.#worker, ttlMs });
    this.#renewedAt = at;
    return signals;
  }

  #stopTimers(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
  }

  /** A look that fails is made again with the next beat; the lease outlives two of them. */
  async #look(ask: () => Promise<readonly LeaseSignal[]>): Promise<void> {
    const asked = [...this.#held.values()];
    try {
      const signals = new Map((await ask()).map((signal) => [signal.sessionId, signal]));
      for (const lease of asked) {
        const signal = signals.get(lease.sessionId);
        if (this.#held.get(lease.sessionId) !== lease) continue;
        if (signal?.token === lease.token) lease.signalled(signal);
        else lease.lost(staleOwner(lease));
      }
    } catch {
      // the next commit says what is wrong with the store
    }
  }
}
