import { systemClock } from '../../clock.ts';
import type { SessionLookup } from '../session-lookup.ts';
import { FeedReader } from './feed-reader.ts';
import type { FeedSink, FeedStart } from './feed-sink.ts';
import { keepFeeds } from './feeds-of.ts';
import type { LiveSource } from './live-source.ts';
import { SessionTail, type FeedPolling } from './session-tail.ts';

export interface FeedOptions extends FeedStart {
  readonly owner: string;
  /**
   * Polling of the store; null if no other process works on these sessions. Default: every 250 ms while busy, otherwise
   * every 2 seconds.
   */
  readonly polling?: FeedPolling | null;
}

const POLLING: FeedPolling = { busyMs: 250, idleMs: 2_000, clock: systemClock };

/** Sessions that are followed in this process, each with one tail for all its readers. */
export class SessionFeeds {
  readonly lookup: SessionLookup;
  readonly live: LiveSource;
  readonly #tails: Map<string, SessionTail> = new Map();
  #isClosed = false;

  /** `runtime` is the key under which `feedsOf` finds these feeds. */
  constructor(runtime: object, lookup: SessionLookup, live: LiveSource) {
    this.lookup = lookup;
    this.live = live;
    keepFeeds(runtime, this);
  }

  /** Opens a reader that listens from now on. It reads and checks the owner when `readOn` is called. */
  open(sessionId: string, sink: FeedSink, options: FeedOptions): FeedReader {
    const { owner, polling = POLLING, ...start } = options;
    const tail = this.#tails.get(sessionId) ?? this.#tailOf(sessionId);
    const reader = new FeedReader(tail, owner, sink, start);
    tail.join(reader, polling);
    if (this.#isClosed) queueMicrotask(() => reader.end());
    return reader;
  }

  wake(sessionId: string): void {
    this.#tails.get(sessionId)?.wake();
  }

  /** Ends the readers of a deleted session. */
  end(sessionId: string): void {
    this.#tails.get(sessionId)?.end();
  }

  close(): void {
    this.#isClosed = true;
    for (const tail of Array.from(this.#tails.values())) tail.end();
  }

  /** Removes a tail whose last reader has left. */
  abandon(tail: SessionTail): void {
    if (this.#tails.get(tail.sessionId) === tail) this.#tails.delete(tail.sessionId);
  }

  #tailOf(sessionId: string): SessionTail {
    const tail = new SessionTail(this, sessionId);
    this.#tails.set(sessionId, tail);
    return tail;
  }
}
