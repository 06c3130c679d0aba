import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import type { SessionEvent } from '../../sessions/session-worker.ts';
import { isLastWord } from './use-chat-ending.ts';

type Listener = (event: SessionEvent) => void;

/** More than one message has; then its text comes when it is whole. */
const MOST_KEPT = 20_000;
/** Runs that are remembered though nobody reads them at the moment. */
const MOST_UNREAD = 1_000;

/** What was told after the last event that is in the log: the text that is being made. */
interface Tail {
  readonly listeners: Set<Listener>;
  leave: () => void;
  executionId: string;
  /** Number of the last event that was told; -1 before the first, when nobody knows what came before. */
  position: number;
  kept: SessionEvent[];
  isOver: boolean;
}

export interface Seat {
  /** What was told before, see `Tail`. */
  readonly executionId: string;
  readonly position: number;
  readonly kept: readonly SessionEvent[];
  leave(): void;
}

/**
 * Listens to sessions for all readers of this process, and remembers the text that is being made: it is in no log, and
 * whoever comes back in the middle wants to see it from its beginning.
 */
export class LiveTails {
  readonly #runtime: SessionRuntime;
  readonly #tails: Map<string, Promise<Tail>> = new Map();

  constructor(runtime: SessionRuntime) {
    this.#runtime = runtime;
  }

  /** From now on the listener hears everything; the seat has what was told just before. */
  async join(sessionId: string, owner: string, listener: Listener): Promise<Seat> {
    const opening = this.#tails.get(sessionId) ?? this.#open(sessionId, owner);
    const tail = await opening;
    if (this.#tails.get(sessionId) !== opening) return this.join(sessionId, owner, listener);
    tail.listeners.add(listener);
    const { executionId, position } = tail;
    return {
      executionId,
      position,
      kept: tail.kept.slice(),
      leave: () => {
        tail.listeners.delete(listener);
        if (tail.isOver) this.#drop(sessionId, tail);
        else this.#forgetOldest();
      },
    };
  }

  /** Hears nothing more. */
  close(): void {
    for (const opening of this.#tails.values())
      void opening.then(
        ({ leave }) => leave(),
        () => {},
      );
    this.#tails.clear();
  }

  #open(sessionId: string, owner: string): Promise<Tail> {
    const tail: Tail = {
      listeners: new Set(),
      leave: () => {},
      executionId: '',
      position: -1,
      kept: [],
      isOver: true,
    };
    const opening = this.#runtime
      .subscribe(sessionId, { owner }, (event) => this.#heard(tail, event))
      .then((leave) => {
        tail.leave = leave;
        return tail;
      });
    this.#tails.set(sessionId, opening);
    opening.catch(() => this.#tails.delete(sessionId));
    return opening;
  }

  #heard(tail: Tail, told: SessionEvent): void {
    const { seq, event, sessionId } = told;
    if (seq !== null) {
      tail.position = seq;
      tail.executionId = event.executionId;
      tail.kept = [];
      tail.isOver = isLastWord(event);
    } else if (tail.position >= 0 && event.parentAgentId === null) {
      tail.kept.push(told);
      if (tail.kept.length > MOST_KEPT) {
        tail.kept = [];
        tail.position = -1;
      }
    }
    for (const listener of tail.listeners) listener(told);
    if (tail.isOver) this.#drop(sessionId, tail);
  }

  #drop(sessionId: string, tail: Tail): void {
    if (tail.listeners.size > 0) return;
    tail.leave();
    this.#tails.delete(sessionId);
  }

  #forgetOldest(): void {
    if (this.#tails.size <= MOST_UNREAD) return;
    for (const [sessionId, opening] of this.#tails)
      void opening.then(
        (tail) => {
          if (this.#tails.size > MOST_UNREAD) this.#drop(sessionId, tail);
        },
        () => {},
      );
  }
}
