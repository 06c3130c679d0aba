import { AgentError, invalidOption, positive } from '../errors/agent-error.ts';
import { inTime } from './in-time.ts';
import { Lease, msSince, thisMoment, type Moment } from './lease.ts';
import type { SignalledReasons } from './run-signals.ts';
import type { LeaseRequest, LeaseSignal, Release, SessionStore } from './session-store.ts';
import { staleOwner } from './stores/store-errors.ts';

export interface LeaseTimes {
  /** How long a lease is valid without a heartbeat, in milliseconds. Default 15,000. */
  readonly leaseMs: number;
  /** How often leases are renewed, in milliseconds. Default 5,000. */
  readonly heartbeatMs: number;
  /**
   * How often the store is polled for stop and pause requests of other processes, in milliseconds. Default 400; 2,000
   * with a bus, which reports them.
   */
  readonly signalMs: number;
}

const defaultLeaseTimes: LeaseTimes = {
  leaseMs: 15_000,
  heartbeatMs: 5_000,
  signalMs: 400,
};

/** Default of `signalMs` with a bus. */
const BUS_SIGNAL_MS = 2_000;

/** Fills in defaults and checks that a lease lasts at least two heartbeats. */
export function checkedLeaseTimes(
  given: Partial<LeaseTimes> = {},
  hasBus: boolean = false,
): LeaseTimes {
  const times = { ...defaultLeaseTimes, ...(hasBus && { signalMs: BUS_SIGNAL_MS }), ...given };
  for (const [name, ms] of Object.entries(times)) positive(`lease ${name}`, ms);
  const { leaseMs, heartbeatMs } = times;
  if (leaseMs >= 2 * heartbeatMs) return times;
  throw invalidOption('lease leaseMs', leaseMs, `at least twice the heartbeatMs of ${heartbeatMs}`);
}

/** A lease to release. A null token means a claim whose answer was lost. */
interface Return {
  readonly token: number | null;
  readonly since: Moment;
}

const RELEASE_TRIES = 3;

/** Claims sessions for one worker, renews its leases and forwards requests of other processes. */
export class LeaseKeeper {
  readonly #store: SessionStore;
  readonly #worker: string;
  readonly #times: LeaseTimes;
  readonly #leases: Map<string, Lease> = new Map();
  readonly #claiming: Set<string> = new Set();
  readonly #returns: Map<string, Return> = new Map();
  #timers: ReturnType<typeof setInterval>[] = [];
  #retry: ReturnType<typeof setTimeout> | null = null;
  #isPolling = false;
  #isPollWanted = false;

  constructor(store: SessionStore, worker: string, times: LeaseTimes) {
    this.#store = store;
    this.#worker = worker;
    this.#times = times;
  }

  /** Claims a session. Returns null if it cannot be claimed. The lease is renewed until `drop` or `release`. */
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
      const lease = new Lease(row, ttlMs, askedAt, (held) => this.#renew([held]));
      this.#returns.delete(sessionId);
      this.#leases.set(sessionId, lease);
      this.#keepTime();
      return lease;
    } finally {
      this.#claiming.delete(sessionId);
    }
  }

  /** Returns the row if the store has carried out a claim whose answer was lost. */
  async #lostClaim(sessionId: string, error: unknown): ReturnType<SessionStore['claim']> {
    const row = await this.#store.find(sessionId).catch(() => null);
    const isOurs = row?.worker === this.#worker && row.isLeased && row.phase === 'open';
    if (isOurs && this.#leases.get(sessionId)?.token !== row.token) return row;
    // the claim may still be in transit
    this.#returns.set(sessionId, { token: null, since: thisMoment() });
    this.#keepTime();
    throw error;
  }

  /** Forgets a lease that the last commit of its run has released, or that is lost. */
  drop(lease: Lease): void {
    lease.end(staleOwner(lease));
    if (this.#leases.get(lease.sessionId) === lease) this.#leases.delete(lease.sessionId);
    this.#keepTime();
  }

  /** Ends a failed try. If the store does not accept that now, the lease is released later. */
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

  /** Releases a lease, so that other workers can continue before it expires. */
  async release(lease: Lease): Promise<void> {
    const { sessionId, token } = lease;
    const given = { token, since: thisMoment() };
    this.#returns.set(sessionId, given);
    this.drop(lease);
    await this.#tryRelease(sessionId, given);
    this.#keepTime();
  }

  /** Delivers a request from this process without waiting for the next poll. */
  signal(sessionId: string, signal: SignalledReasons): void {
    this.#leases.get(sessionId)?.listener?.signalled(signal);
  }

  /** Polls now if this worker holds the session, because it has changed in the store. */
  pollFor(sessionId: string): void {
    if (this.#leases.has(sessionId)) void this.#poll();
  }

  /** Interrupts every run under a lease, so that other workers continue. */
  handOver(): void {
    for (const { listener } of this.#leases.values()) listener?.handOver();
  }

  /** Runs the timers while there is a lease to renew or to release. */
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

  /** Renews all leases, and tries again soon if one was not extended. */
  async #beat(): Promise<void> {
    const leases = [...this.#leases.values()];
    if (leases.length === 0) return;
    const isDone = await this.#renew(leases).catch(() => false); // the next commit reports the failure of the store
    if (isDone || this.#retry !== null || this.#timers.length === 0) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      void this.#beat();
    }, this.#times.heartbeatMs / 4);
  }

  /**
   * Renews the named leases only, so that a lease unknown to this worker expires. Returns whether all were extended.
   */
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
      this.#applySignals(leases, renewed);
      const extended = new Set(renewed.filter(({ isBusy }) => !isBusy).map(({ token }) => token));
      for (const lease of leases) if (extended.has(lease.token)) lease.proven(askedAt);
      return leases.every(({ token, lostError }) => lostError !== null || extended.has(token));
    } catch (error) {
      for (const lease of leases) lease.doubted(askedAt);
      throw error;
    }
  }

  /** Polls the store for requests. Calls during a poll cause one more poll. */
  async #poll(): Promise<void> {
    this.#isPollWanted = true;
    if (this.#isPolling) return;
    this.#isPolling = true;
    while (this.#isPollWanted) {
      this.#isPollWanted = false;
      const leases = [...this.#leases.values()];
      if (leases.length === 0) break;
      const signals = await this.#store.signals(this.#worker).catch(() => null);
      if (signals) this.#applySignals(leases, signals);
    }
    this.#isPolling = false;
  }

  /** Applies the answer of the store. A lease that the answer leaves out is lost. */
  #applySignals(asked: readonly Lease[], signals: readonly LeaseSignal[]): void {
    const bySession = new Map(signals.map((signal) => [signal.sessionId, signal]));
    for (const lease of asked) {
      if (this.#leases.get(lease.sessionId) !== lease) continue;
      const signal = bySession.get(lease.sessionId);
      if (signal?.token === lease.token) lease.listener?.signalled(signal);
      else lease.lose(staleOwner(lease));
    }
  }

  async #releaseAll(): Promise<void> {
    for (const [id, given] of this.#returns) await this.#tryRelease(id, given);
    this.#keepTime();
  }

  async #tryRelease(id: string, given: Return): Promise<void> {
    const isOver = await this.#released(id, given).catch(() => false); // tried again with the next heartbeat
    // no worker renews it, so it has expired by then
    const isDone = isOver || msSince(given.since) > this.#times.leaseMs;
    if (isDone && this.#returns.get(id) === given) this.#returns.delete(id);
  }

  /**
   * Releases a lease with a commit, then reads the row again: a commit of the failed work may have used the same
   * revision.
   */
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

const unanswered = (ms: number): AgentError =>
  new AgentError(
    'store_failed',
    `The store did not answer for a lease within ${Math.round(ms)} ms.`,
  );
