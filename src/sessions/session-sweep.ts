import { waitAfter } from './attempts.ts';
import type { RecoverablePage, SessionStore } from './session-store.ts';

/** How many sessions one look brings, of those that should not wait and of each agent. */
const MOST = 1_000;
const EVERY_MS = 1_000;
/** Trouble that long ago says nothing any more. */
const FORGOTTEN_MS = 600_000;

/** Finds what a process that died has left, and what no process has begun, for the agents of this one. */
export class SessionSweep {
  readonly #store: SessionStore;
  readonly #agents: readonly string[];
  readonly #leaseMs: number;
  /** Where the next look continues, by agent. */
  readonly #lastOwners: Map<string, string> = new Map();
  /** Sessions that could not even be claimed: by the clock of this process, until when they are left out. */
  readonly #troubled: Map<string, { readonly failures: number; readonly until: number }> =
    new Map();
  /** What the last look has brought: nothing holds it, or its lease has run out. */
  #free: ReadonlySet<string> = new Set();
  /** Tries that this process makes again. */
  readonly #retries: Map<string, ReturnType<typeof setTimeout>> = new Map();
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(store: SessionStore, agents: readonly string[], leaseMs: number) {
    this.#store = store;
    this.#agents = agents;
    this.#leaseMs = leaseMs;
  }

  get #everyMs(): number {
    return Math.min(EVERY_MS, this.#leaseMs / 3);
  }

  /** Ids of sessions to work on: those to be stopped, of any agent, and the others, the longest expired first. */
  async find(): Promise<{ readonly stops: readonly string[]; readonly others: readonly string[] }> {
    const agents = this.#agents;
    const stops = await this.#store.urgent({ agents: [], limit: MOST });
    const ids = new Set(await this.#store.urgent({ agents, limit: MOST }));
    for (const agent of agents) for (const id of await this.#waiting(agent)) ids.add(id);
    this.#free = new Set([...stops, ...ids]);
    for (const id of stops) ids.delete(id);
    const now = performance.now();
    const isLeft = (id: string): boolean => (this.#troubled.get(id)?.until ?? 0) > now;
    for (const [id, { until }] of this.#troubled)
      if (until + FORGOTTEN_MS < now) this.#troubled.delete(id);
    return {
      // a stop waits for no try
      stops: stops.filter((id) => !isLeft(id) || this.#troubled.get(id)?.failures === 0),
      others: [...ids].filter((id) => !isLeft(id)),
    };
  }

  /** Whether a worker may claim the session, though its row says that it is leased: that clock may have been set. */
  isFree(sessionId: string): boolean {
    return this.#free.has(sessionId);
  }

  /** The next page of what waits for an agent: each look continues where the last one ended. */
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

  /** The work on a session failed before anything could be kept of that: it is left alone for a while. */
  noteTrouble(sessionId: string): void {
    const failures = (this.#troubled.get(sessionId)?.failures ?? 0) + 1;
    const until = performance.now() + waitAfter(failures, this.#leaseMs);
    this.#troubled.set(sessionId, { failures, until });
  }

  noteWork(sessionId: string): void {
    this.#troubled.delete(sessionId);
  }

  /**
   * Calls back when a session may be tried again here, whether or not this process looks for work. Others, which may
   * lack what makes it fail here, have had two looks by then.
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

  /** Looks now and every second, one look at a time. */
  start(look: () => Promise<void>): void {
    if (this.#timer !== null) return;
    let isLooking = false;
    const tick = async (): Promise<void> => {
      if (isLooking) return;
      isLooking = true;
      await look();
      isLooking = false;
    };
    this.#timer = setInterval(() => void tick(), this.#everyMs);
    void tick();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const timer of this.#retries.values()) clearTimeout(timer);
    this.#retries.clear();
  }
}
