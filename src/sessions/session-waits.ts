import { AgentError } from '../errors/agent-error.ts';
import { hasLog } from './event-log.ts';
import type { RemoteListener } from './feed/live-source.ts';
import { sessionNotFound } from './session-errors.ts';
import type { SessionStore } from './session-store.ts';

/** How often the store is polled for a waiting caller, in milliseconds, because the work may run in another process. */
const POLL_MS = 250;
/** The same where a bus reports changes, after a first poll for what ended before others knew of the wait. */
const BUS_POLL_MS = 2_000;

/** The same for work of this process, which reports its end: for a stop of the process's queue or clock. */
const LOCAL_POLL_MS = 5_000;

/** Reports changes of sessions that other processes work on. */
export interface ChangeSource {
  readonly isConnected: boolean;
  /** Until the returned function is called. */
  watch(sessionId: string, listener: RemoteListener): () => void;
}

/** Callers that wait for sessions to end, pause or be parked. */
export class SessionWaits {
  readonly #store: SessionStore;
  readonly #changes: ChangeSource | null;
  readonly #waiters: Map<string, Set<() => void>> = new Map();
  /** Sessions whose rows cannot be read. Waiting callers get the error. */
  readonly #damaged: Map<string, AgentError> = new Map();
  readonly #isHere: (sessionId: string) => boolean;
  #isOver = false;

  /** `isHere` says whether the end of the session's turn in this process is going to be reported by `notify`. */
  constructor(
    store: SessionStore,
    changes: ChangeSource | null,
    isHere: (sessionId: string) => boolean = () => false,
  ) {
    this.#store = store;
    this.#changes = changes;
    this.#isHere = isHere;
  }

  /**
   * Resolves when the execution (null: any) neither runs nor waits for a worker. `hasBegun` means that it does not
   * wait, even if it has no log.
   */
  async settled(
    sessionId: string,
    executionId: string | null,
    hasBegun: boolean = false,
  ): Promise<void> {
    const changed = (): void => this.notify(sessionId);
    const unwatch = this.#changes?.watch(sessionId, { text() {}, changed });
    try {
      await this.#settled(sessionId, executionId, hasBegun);
    } finally {
      unwatch?.();
    }
  }

  async #settled(sessionId: string, executionId: string | null, hasBegun: boolean): Promise<void> {
    let wasSeen = hasBegun;
    for (let pollMs = POLL_MS; ; pollMs = this.#changes?.isConnected ? BUS_POLL_MS : POLL_MS) {
      const isHere = this.#isHere(sessionId);
      const changed = this.#nextChange(sessionId, isHere ? LOCAL_POLL_MS : pollMs);
      const row = await this.#store.find(sessionId);
      if (!row) throw sessionNotFound(sessionId);
      const isCurrent = executionId === null || row.executionId === executionId;
      // idle: nothing waits, not even a refused message; parked: nothing happens without a retry
      if (row.phase === 'idle' || row.phase === 'parked') return;
      if (isCurrent && row.phase !== 'open') return;
      if (!isCurrent && wasSeen) return;
      wasSeen = isCurrent
        ? executionId !== null
        : await hasLog(this.#store, sessionId, executionId);
      // the execution may have begun since the row was read
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

  /** Records that the rows of a session cannot be read; null if they can be read again. */
  noteDamage(sessionId: string, damage: AgentError | null): void {
    if (damage) this.#damaged.set(sessionId, damage);
    else this.#damaged.delete(sessionId);
  }

  /** Ends all waits, because this process has stopped working. A wait for unfinished work rejects. */
  close(): void {
    this.#isOver = true;
    for (const sessionId of Array.from(this.#waiters.keys())) this.notify(sessionId);
  }

  #nextChange(sessionId: string, pollMs: number): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(sessionId) ?? new Set();
      const done = (): void => {
        clearTimeout(timer);
        waiters.delete(done);
        if (waiters.size === 0) this.#waiters.delete(sessionId);
        resolve();
      };
      const timer = setTimeout(done, pollMs);
      this.#waiters.set(sessionId, waiters.add(done));
    });
  }
}

export const runtimeClosed = (): AgentError =>
  new AgentError(
    'runtime_closed',
    'This runtime is closed and accepts no more work. Another process continues its open sessions. Send to another ' +
      'process, or create a new runtime.',
  );
