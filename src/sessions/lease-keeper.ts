import { AgentError, invalidOption, positive } from '../errors/agent-error.ts';
import { inTime } from './in-time.ts';
import { Lease, msSince, thisMoment, type Moment } from './lease.ts';
import type { LeaseRequest, LeaseSignal, Release, SessionStore } from './session-store.ts';
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

/** A lease to give back: a null token stands for a claim whose answer was lost. */
interface Return {
  readonly token: number | null;
  readonly since: Moment;
}

const RELEASE_TRIES = 3;
const PROOF_TRIES = 4;
const LONGEST_WAIT_MS = 1_000;

/** Claims sessions for one worker, keeps its leases alive and passes on requests of other processes. */
export class LeaseKeeper {
  readonly #store: SessionStore;
  readonly #worker: string;
  readonly #times: LeaseTimes;
  readonly #leases: Map<string, Lease> = new Map();
  readonly #claiming: Set<string> = new Set();
  readonly #returns: Map<string, Return> = new Map();
  #timers: ReturnType<typeof setInterval>[] = [];
  #retry: ReturnType<typeof setTimeout> | null = null;

  constructor(store: SessionStore, worker: string, times: LeaseTimes) {
    this.#store = store;
    this.#worker = worker;
    this.#times = times;
  }

  /** Null where the session cannot be had. The lease is kept alive until `drop` or `release`. */
  async claim(
    sessionId: string,
    request: Omit<LeaseRequest, 'worker' | 'ttlMs'> = {},
  ): Promise<Lease | null> {
    if (this.#claiming.has(sessionId)) return null;
    this.#claiming.add(sessionId);
    const askedAt = thisMoment();
    const ttlMs = this.#times.leaseMs;
    try {
      const row = await this.#store
        .claim(sessionId, { ...request, worker: this.#worker, ttlMs })
        .catch((error: unknown) => this.#lostClaim(sessionId, error));
      if (!row) return null;
      const lease = new Lease(row, ttlMs, askedAt);
      this.#returns.delete(sessionId);
      this.#leases.set(sessionId, lease);
      this.#keepTime();
      return lease;
    } finally {
      this.#claiming.delete(sessionId);
    }
  }

  /** The store may have carried out a claim whose answer never came: then the session is ours, and is worked on. */
  async #lostClaim(sessionId: string, error: unknown): ReturnType<SessionStore['claim']> {
    const row = await this.#store.find(sessionId).catch(() => null);
    const isOurs = row?.worker === this.#worker && row.isLeased && row.phase === 'open';
    if (isOurs && this.#leases.get(sessionId)?.token !== row.token) return row;
    // it may still be on its way
    this.#returns.set(sessionId, { token: null, since: thisMoment() });
    this.#keepTime();
    throw error;
  }

  /** The work under it is over, and the lease was given back with its last commit or is lost. */
  drop(lease: Lease): void {
    lease.end(staleOwner(lease));
    if (this.#leases.get(lease.sessionId) === lease) this.#leases.delete(lease.sessionId);
    this.#keepTime();
  }

  /** Ends a try that failed. A store that does not take that now gets the lease back when it can. */
  async endAttempt(lease: Lease, release: Release): Promise<void> {
    const { sessionId, token } = lease;
    const { leaseMs } = this.#times;
    try {
      await inTime(this.#store.release(sessionId, token, release), leaseMs, () =>
        unanswered(leaseMs),
      );
      this.drop(lease);
    } catch {
      await this.release(lease);
    }
  }

  /** Lets others continue work that ended here, without a wait for the end of the lease. */
  async release(lease: Lease): Promise<void> {
    this.#returns.set(lease.sessionId, { token: lease.token, since: thisMoment() });
    this.drop(lease);
    await this.#releaseAll();
    this.#keepTime();
  }

  /**
   * Undefined where the lease is proven now; else to be awaited, and asked again before anything begins. Rejects where
   * the store does not confirm that the lease is ours: what cannot be taken back must not begin then.
   */
  confirm(lease: Lease): Promise<void> | undefined {
    if (lease.isLeaseValid) return undefined;
    lease.proving ??= this.#prove(lease).finally(() => (lease.proving = null));
    return lease.proving;
  }

  async #prove(lease: Lease): Promise<void> {
    let failure: unknown;
    for (let tries = 1; ; tries++) {
      if (lease.lostError !== null) throw lease.lostError;
      try {
        await this.#renew([lease]);
      } catch (error) {
        failure = error;
      }
      if (lease.isLeaseValid) return;
      if (lease.lostError !== null) throw lease.lostError;
      if (tries >= PROOF_TRIES && lease.hasRunOut) throw failure ?? unproven(lease);
      await wait(Math.min(LONGEST_WAIT_MS, 25 * 2 ** tries));
    }
  }

  /** A request from this process need not wait for the next poll. */
  signal(sessionId: string, signal: Pick<LeaseSignal, 'stopReason' | 'pauseReason'>): void {
    this.#leases.get(sessionId)?.signalled(signal);
  }

  /** Timers run while there is a lease to keep or to give back. */
  #keepTime(): void {
    const isNeeded = this.#leases.size > 0 || this.#returns.size > 0;
    if (isNeeded === this.#timers.length > 0) return;
    if (isNeeded) return this.#startTimers();
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
  }

  #startTimers(): void {
    const { heartbeatMs, signalMs } = this.#times;
    const every = (ms: number, work: () => Promise<void>): void => {
      let isAsking = false;
      const tick = async (): Promise<void> => {
        if (isAsking) return;
        isAsking = true;
        await work();
        isAsking = false;
      };
      this.#timers.push(setInterval(() => void tick(), ms));
    };
    every(heartbeatMs, () => this.#beat());
    every(heartbeatMs, () => this.#releaseAll());
    every(signalMs, () => this.#poll());
  }

  /** What was not extended is tried again soon: the lease outlives two beats. */
  async #beat(): Promise<void> {
    const leases = [...this.#leases.values()];
    if (leases.length === 0) return;
    const isDone = await this.#renew(leases).catch(() => false); // the next commit says what is wrong with the store
    if (isDone || this.#retry !== null || this.#timers.length === 0) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      void this.#beat();
    }, this.#times.heartbeatMs / 4);
  }

  /** Names the leases: one that this worker does not know of is not kept alive. Whether all were extended. */
  async #renew(leases: readonly Lease[]): Promise<boolean> {
    const { leaseMs: ttlMs } = this.#times;
    const askedAt = thisMoment();
    const named = leases.map(({ sessionId, token }) => ({ sessionId, token }));
    try {
      const renewed = await inTime(
        this.#store.renew({ worker: this.#worker, ttlMs, leases: named }),
        ttlMs / 3,
        () => unanswered(ttlMs / 3),
      );
      this.#heard(leases, renewed);
      const extended = new Set(renewed.filter(({ isBusy }) => !isBusy).map(({ token }) => token));
      for (const lease of leases) if (extended.has(lease.token)) lease.proven(askedAt);
      return leases.every(({ token, lostError }) => lostError !== null || extended.has(token));
    } catch (error) {
      for (const lease of leases) lease.doubted(askedAt);
      throw error;
    }
  }

  async #poll(): Promise<void> {
    const leases = [...this.#leases.values()];
    if (leases.length === 0) return;
    const signals = await this.#store.signals(this.#worker).catch(() => null);
    if (signals) this.#heard(leases, signals);
  }

  /** What the store says of the leases that it was asked about; it leaves out those that are lost. */
  #heard(asked: readonly Lease[], signals: readonly LeaseSignal[]): void {
    const bySession = new Map(signals.map((signal) => [signal.sessionId, signal]));
    for (const lease of asked) {
      if (this.#leases.get(lease.sessionId) !== lease) continue;
      const signal = bySession.get(lease.sessionId);
      if (signal?.token === lease.token) lease.signalled(signal);
      else lease.lose(staleOwner(lease));
    }
  }

  async #releaseAll(): Promise<void> {
    for (const [id, given] of this.#returns) {
      const isOver = await this.#released(id, given).catch(() => false); // tried again with the next beat
      // no worker renews it, so it has expired by then
      const isDone = isOver || msSince(given.since) > this.#times.leaseMs;
      if (isDone && this.#returns.get(id) === given) this.#returns.delete(id);
    }
    this.#keepTime();
  }

  /** Looks again after a commit: one of the work that failed may have come in between, under the same revision. */
  async #released(id: string, { token }: Return): Promise<boolean> {
    for (let tries = 0; tries < RELEASE_TRIES; tries++) {
      const row = await this.#store.find(id);
      if (row?.worker !== this.#worker || this.#claiming.has(id) || this.#leases.has(id))
        return token !== null;
      if (row.token !== (token ?? row.token)) return true;
      const { revision, updatedAt: at } = row;
      await this.#store.commit({ sessionId: id, token: row.token, revision, at, end: 'handover' });
    }
    return true;
  }
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const unanswered = (ms: number): AgentError =>
  new AgentError(
    'store_failed',
    `The store did not answer for a lease within ${Math.round(ms)} ms.`,
  );

const unproven = ({ sessionId, token }: Lease): AgentError =>
  new AgentError(
    'store_failed',
    `The store did not extend the lease of session "${sessionId}" in time, so nothing more begins under token ` +
      `${token}. Another worker continues it.`,
    { details: { sessionId, token } },
  );
