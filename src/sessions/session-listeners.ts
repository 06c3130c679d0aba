import { notify } from '../events/event-bus.ts';
import type { SessionEvent } from './session-worker.ts';

type Listener = (event: SessionEvent) => void;

/** Who hears the events of sessions: of one, or of all. */
export class SessionListeners {
  readonly #all: Set<Listener> = new Set();
  readonly #bySession: Map<string, Set<Listener>> = new Map();

  /** Null for every session. */
  add(sessionId: string | null, listener: Listener): () => void {
    // a wrapper each: the same function added twice is two listeners
    const own: Listener = (event) => listener(event);
    const listeners =
      sessionId === null ? this.#all : (this.#bySession.get(sessionId) ?? new Set());
    listeners.add(own);
    if (sessionId !== null) this.#bySession.set(sessionId, listeners);
    return () => {
      listeners.delete(own);
      if (
        sessionId !== null &&
        listeners.size === 0 &&
        this.#bySession.get(sessionId) === listeners
      )
        this.#bySession.delete(sessionId);
    };
  }

  wants(sessionId: string): boolean {
    return this.#all.size > 0 || this.#bySession.has(sessionId);
  }

  notify(event: SessionEvent): void {
    const { type } = event.event;
    for (const listener of this.#all) notify(listener, event, type);
    for (const listener of this.#bySession.get(event.sessionId) ?? [])
      notify(listener, event, type);
  }
}
