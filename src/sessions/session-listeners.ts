import { isRunEnd } from '../events/agent-event.ts';
import { notify } from '../events/event-bus.ts';
import type { LiveEvent, LiveSource, LogPosition, TextSoFar } from './feed/live-source.ts';
import { LiveTexts } from './feed/live-texts.ts';

type Listener = (event: LiveEvent) => void;

/** Most runs that keep streaming without a listener, so that a reader can come back in the middle of a text. */
const MOST_LEFT = 1_000;

/** Listeners to one session or to all sessions that this process works on. The live source without a bus. */
export class SessionListeners implements LiveSource {
  readonly isRemote: boolean = false;
  readonly #texts: LiveTexts = new LiveTexts();
  readonly #all: Set<Listener> = new Set();
  readonly #bySession: Map<string, Set<Listener>> = new Map();
  /** Sessions with a current run that has had listeners. */
  readonly #running: Set<string> = new Set();

  /** Adds a listener to a session, or to all sessions if `sessionId` is null. Returns a function that removes it. */
  listen(sessionId: string | null, listener: Listener): () => void {
    // wrapped, so that the same function added twice counts as two listeners
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

  localText(sessionId: string): TextSoFar | null {
    return this.#texts.of(sessionId);
  }

  textSoFar(sessionId: string, _position: LogPosition): TextSoFar | null {
    return this.localText(sessionId);
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
