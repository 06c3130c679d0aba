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

/** When polls found that a session waits. */
interface Waiting {
  readonly firstAt: number;
  readonly lastAt: number;
}

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
  /** Sessions that waited in earlier polls, by agent. */
  readonly #found: Map<string, Map<string, Waiting>> = new Map();
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
    const waiting = await this.#waiting();
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

  /** Returns those of the found sessions that have waited longer than a queue needs to deliver them. */
  overdue(waiting: readonly string[]): readonly string[] {
    const latest = performance.now() - DELIVERY_MS;
    const found = [...this.#found.values()];
    return waiting.filter((id) =>
      found.some((known) => (known.get(id)?.firstAt ?? Infinity) <= latest),
    );
  }

  /** Whether a worker may claim the session even if its row appears leased, because the clock may have been changed. */
  isFree(sessionId: string): boolean {
    return this.#free.has(sessionId);
  }

  /** Returns the next page of the sessions that wait for each agent. Each poll continues where the last one ended. */
  async #waiting(): Promise<readonly string[]> {
    const lastOwners = new Map(this.#lastOwners);
    const pages = await this.#pages(this.#agents);
    const restarted = this.#agents.filter(
      (agent) => pages.get(agent)?.ids.length === 0 && lastOwners.has(agent),
    );
    for (const agent of restarted) this.#lastOwners.delete(agent);
    for (const [agent, page] of await this.#pages(restarted)) pages.set(agent, page);
    for (const [agent, { ids, afterOwner }] of pages) {
      if (afterOwner === null) this.#lastOwners.delete(agent);
      else this.#lastOwners.set(agent, afterOwner);
      this.#noteWaiting(agent, ids, !lastOwners.has(agent) && afterOwner === null);
    }
    return Array.from(pages.values(), ({ ids }) => ids).flat();
  }

  async #pages(agents: readonly string[]): Promise<Map<string, RecoverablePage>> {
    if (agents.length === 0) return new Map();
    const turns = agents.map((agent) => {
      const afterOwner = this.#lastOwners.get(agent);
      return afterOwner === undefined ? { agent } : { agent, afterOwner };
    });
    const pages = await this.#store.recoverable({ agents: turns, limit: MOST });
    return new Map(pages.map((page, i) => [agents[i] ?? '', page]));
  }

  /** Records which sessions wait. If these are all, others have had their turn and wait anew the next time. */
  #noteWaiting(agent: string, ids: readonly string[], areAll: boolean): void {
    const now = performance.now();
    const known = [...(this.#found.get(agent) ?? [])];
    const before = new Map(known.filter(([, { lastAt }]) => lastAt + FORGOTTEN_MS >= now));
    const found = new Map(areAll ? [] : before);
    for (const id of ids) found.set(id, { firstAt: before.get(id)?.firstAt ?? now, lastAt: now });
    if (found.size > 0) this.#found.set(agent, found);
    else this.#found.delete(agent);
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
    for (const found of this.#found.values()) found.delete(sessionId);
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
  start(poll: () => Promise<void>): void {
    if (this.#timer !== null) return;
    let isPolling = false;
    const tick = async (): Promise<void> => {
      if (isPolling) return;
      isPolling = true;
      await poll();
      isPolling = false;
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
