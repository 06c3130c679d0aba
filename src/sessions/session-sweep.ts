import { waitAfter } from './attempts.ts';
import type { RecoverablePage, SessionStore } from './session-store.ts';

/** Most sessions that one poll returns: of the urgent ones, and of each agent. */
const MOST = 1_000;
const EVERY_MS = 1_000;
/** Time within which a queue delivers a session to a process, in milliseconds. */
const DELIVERY_MS = 2_000;
/** Age in milliseconds at which a recorded failure or wait is forgotten. */
const FORGOTTEN_MS = 600_000;

type FoundSessions = Readonly<Record<'stops' | 'expired' | 'waiting', readonly string[]>>;

/**
 * Polls the store for sessions of this process's agents that a dead process has left or that no process has started.
 */
export class SessionSweep {
  readonly #store: SessionStore;
  readonly #agents: readonly string[];
  readonly #leaseMs: number;
  /** Last owner of the previous poll, by agent. The next poll continues there. */
  readonly #lastOwners: Map<string, string> = new Map();
  /** Sessions that are left out until a time, by the clock of this process. */
  readonly #troubled: Map<string, { readonly failures: number; readonly until: number }> =
    new Map();
  /** Whether the last poll failed. */
  #isStoreDown = false;
  /** Sessions from the last poll, which are not leased or whose lease has expired. */
  #free: ReadonlySet<string> = new Set();
  /** Sessions that waited in earlier polls. */
  readonly #found: Map<string, { readonly firstAt: number; readonly lastAt: number }> = new Map();
  /** Timers of retries by this process. */
  readonly #retries: Map<string, ReturnType<typeof setTimeout>> = new Map();
  #timer: ReturnType<typeof setInterval> | null = null;
  #tick: (() => Promise<void>) | null = null;

  constructor(store: SessionStore, agents: readonly string[], leaseMs: number) {
    this.#store = store;
    this.#agents = agents;
    this.#leaseMs = leaseMs;
  }

  get #everyMs(): number {
    return Math.min(EVERY_MS, this.#leaseMs / 3);
  }

  /**
   * Returns ids of sessions to work on: those with a stop request, of any agent, those whose lease expired, longest
   * expired first, and those that wait for a worker.
   */
  async find(): Promise<FoundSessions> {
    try {
      const found = await this.#find();
      this.#isStoreDown = false;
      return found;
    } catch (error) {
      this.#isStoreDown = true;
      throw error;
    }
  }

  async #find(): Promise<FoundSessions> {
    const agents = this.#agents;
    const stops = await this.#store.urgent({ agents: [], limit: MOST });
    const urgent = await this.#store.urgent({ agents, limit: MOST });
    const waiting: string[] = [];
    for (const agent of agents) waiting.push(...(await this.#waiting(agent)));
    if (this.#isStoreDown) this.#forgetFailures();
    this.#free = new Set([...stops, ...urgent, ...waiting]);
    const toStop = new Set(stops);
    const isUrgent = new Set([...stops, ...urgent]);
    const now = performance.now();
    const isLeft = (id: string): boolean => (this.#troubled.get(id)?.until ?? 0) > now;
    for (const [id, { until }] of this.#troubled)
      if (until + FORGOTTEN_MS < now) this.#troubled.delete(id);
    return {
      // a stop does not wait for the next try
      stops: stops.filter((id) => !isLeft(id) || this.#troubled.get(id)?.failures === 0),
      expired: urgent.filter((id) => !toStop.has(id) && !isLeft(id)),
      waiting: waiting.filter((id) => !isUrgent.has(id) && !isLeft(id)),
    };
  }

  /** Returns the sessions that have waited longer than a queue needs to deliver them. */
  overdue(waiting: readonly string[]): readonly string[] {
    const now = performance.now();
    for (const [id, { lastAt }] of this.#found)
      if (lastAt + FORGOTTEN_MS < now) this.#found.delete(id);
    return waiting.filter((id) => {
      const { firstAt } = this.#found.get(id) ?? { firstAt: now };
      this.#found.set(id, { firstAt, lastAt: now });
      return firstAt + DELIVERY_MS <= now;
    });
  }

  /** Whether a worker may claim the session even if its row appears leased, because the clock may have been changed. */
  isFree(sessionId: string): boolean {
    return this.#free.has(sessionId);
  }

  /** Returns the next page of sessions that wait for an agent. Each poll continues where the last one ended. */
  async #waiting(agent: string): Promise<readonly string[]> {
    const page = (afterOwner?: string): Promise<RecoverablePage> =>
      this.#store.recoverable({
        agent,
        limit: MOST,
        ...(afterOwner !== undefined && { afterOwner }),
      });
    const last = this.#lastOwners.get(agent);
    let found = await page(last);
    if (found.ids.length === 0 && last !== undefined) found = await page();
    if (found.afterOwner === null) this.#lastOwners.delete(agent);
    else this.#lastOwners.set(agent, found.afterOwner);
    return found.ids;
  }

  /** Leaves a session out for a while, after work on it failed before the failure could be stored. */
  noteTrouble(sessionId: string): void {
    const failures = (this.#troubled.get(sessionId)?.failures ?? 0) + 1;
    const until = performance.now() + waitAfter(failures, this.#leaseMs);
    this.#troubled.set(sessionId, { failures, until });
  }

  /** Forgets failures after an outage of the store, which has probably caused them. */
  #forgetFailures(): void {
    for (const [id, { failures }] of this.#troubled) if (failures > 0) this.#troubled.delete(id);
  }

  noteWork(sessionId: string): void {
    this.#found.delete(sessionId);
    this.#troubled.delete(sessionId);
  }

  /**
   * Calls back when this process may retry a session, even if this process does not poll. Other processes, in which it
   * may not fail, have had two polls by then.
   */
  later(sessionId: string, waitMs: number, again: () => void): void {
    clearTimeout(this.#retries.get(sessionId));
    const ms = waitMs === 0 ? 0 : waitMs + 2 * this.#everyMs;
    const timer = setTimeout(() => {
      this.#retries.delete(sessionId);
      again();
    }, ms);
    this.#retries.set(sessionId, timer);
    this.#troubled.set(sessionId, { failures: 0, until: performance.now() + ms });
  }

  /** Polls now and then every second, or more often with a short lease. Runs one poll at a time. */
  start(look: () => Promise<void>): void {
    if (this.#timer !== null) return;
    let isLooking = false;
    const tick = async (): Promise<void> => {
      if (isLooking) return;
      isLooking = true;
      await look();
      isLooking = false;
    };
    this.#tick = tick;
    this.#timer = setInterval(() => void tick(), this.#everyMs);
    void tick();
  }

  /** Polls now, if started. */
  now(): void {
    void this.#tick?.();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#tick = null;
    for (const timer of this.#retries.values()) clearTimeout(timer);
    this.#retries.clear();
  }
}
