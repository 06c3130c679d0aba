import { notify } from '../events/event-bus.ts';
import { isRunEnd, type LiveEvent, type LiveSource, type TextSoFar } from './feed/live-source.ts';
import { LiveTexts } from './feed/live-texts.ts';

type Listener = (event: LiveEvent) => void;

/** Runs that are streamed on although no listener is left: a reader may come back in the middle of a text. */
const MOST_LEFT = 1_000;

/** The listeners to the sessions that this process works on: to one, or to all. The live source within a process. */
export class SessionListeners implements LiveSource {
  readonly #texts: LiveTexts = new LiveTexts();
  readonly #all: Set<Listener> = new Set();
  readonly #bySession: Map<string, Set<Listener>> = new Map();
  /** Sessions with a run that was listened to. */
  readonly #running: Set<string> = new Set();

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

  listen(sessionId: string, listener: Listener): () => void {
    return this.add(sessionId, listener);
  }

  textSoFar(sessionId: string): TextSoFar | null {
    return this.#texts.of(sessionId);
  }

  wants(sessionId: string): boolean {
    return this.#all.size > 0 || this.#bySession.has(sessionId) || this.#running.has(sessionId);
  }

  notify(live: LiveEvent): void {
    const { type } = live.event;
    this.#texts.note(live);
    if (live.seq !== null) this.#noteRun(live);
    for (const listener of this.#all) notify(listener, live, type);
    for (const listener of this.#bySession.get(live.sessionId) ?? []) notify(listener, live, type);
  }

  #noteRun({ sessionId, event }: LiveEvent): void {
    if (isRunEnd(event)) this.#running.delete(sessionId);
    else this.#running.add(sessionId);
    if (this.#running.size <= MOST_LEFT) return;
    for (const id of this.#running) {
      if (!this.#bySession.has(id)) this.#running.delete(id);
      if (this.#running.size <= MOST_LEFT) return;
    }
  }
}
