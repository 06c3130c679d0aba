import { AgentError } from '../errors/agent-error.ts';
import { hasLog } from './event-log.ts';
import { sessionNotFound } from './session-errors.ts';
import type { SessionStore } from './session-store.ts';

/** How often a caller who waits looks at the store, for work that runs elsewhere. */
const POLL_MS = 250;

/** Who waits for sessions to end, pause or be parked. */
export class SessionWaits {
  readonly #store: SessionStore;
  readonly #waiters: Map<string, Set<() => void>> = new Map();
  /** Sessions whose rows cannot be read: callers who wait get the error. */
  readonly #damaged: Map<string, AgentError> = new Map();
  #isOver = false;

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /**
   * Resolves when the execution (null: any) is neither worked on nor waits for a worker. `hasBegun`: it does not wait,
   * even if there is no log of it.
   */
  async settled(
    sessionId: string,
    executionId: string | null,
    hasBegun: boolean = false,
  ): Promise<void> {
    let wasSeen = hasBegun;
    for (;;) {
      const changed = this.#nextChange(sessionId);
      const row = await this.#store.find(sessionId);
      if (!row) throw sessionNotFound(sessionId);
      const isCurrent = executionId === null || row.executionId === executionId;
      // idle: nothing waits here, also not what was refused; parked: nothing happens by itself
      if (row.phase === 'idle' || row.phase === 'parked') return;
      if (isCurrent && row.phase !== 'open') return;
      if (!isCurrent && wasSeen) return;
      wasSeen = isCurrent
        ? executionId !== null
        : await hasLog(this.#store, sessionId, executionId);
      // it may have begun since the row was read
      if (!isCurrent && wasSeen) continue;
      const damage = this.#damaged.get(sessionId);
      if (damage) throw damage;
      if (this.#isOver) throw runtimeClosed();
      await changed;
    }
  }

  notify(sessionId: string): void {
    for (const wake of Array.from(this.#waiters.get(sessionId) ?? [])) wake();
  }

  /** Null: it can be read. */
  noteDamage(sessionId: string, damage: AgentError | null): void {
    if (damage) this.#damaged.set(sessionId, damage);
    else this.#damaged.delete(sessionId);
  }

  /** The work of this process has ended: what it did not come to, it does not come to any more. */
  close(): void {
    this.#isOver = true;
    for (const sessionId of Array.from(this.#waiters.keys())) this.notify(sessionId);
  }

  #nextChange(sessionId: string): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(sessionId) ?? new Set();
      const done = (): void => {
        clearTimeout(timer);
        waiters.delete(done);
        if (waiters.size === 0) this.#waiters.delete(sessionId);
        resolve();
      };
      const timer = setTimeout(done, POLL_MS);
      this.#waiters.set(sessionId, waiters.add(done));
    });
  }
}

export const runtimeClosed = (): AgentError =>
  new AgentError(
    'runtime_closed',
    'This runtime was closed and takes no more work; another process continues what is open. Send to another ' +
      'process, or make a new runtime.',
  );
