import { systemClock } from '../../clock.ts';
import type { SessionLookup } from '../session-lookup.ts';
import { FeedReader } from './feed-reader.ts';
import type { FeedSink, FeedStart } from './feed-sink.ts';
import { keepFeeds } from './feeds-of.ts';
import type { LiveSource } from './live-source.ts';
import { SessionTail, type FeedPolling } from './session-tail.ts';

export interface FeedOptions extends FeedStart {
  readonly owner: string;
  /** Null where no other process works on these sessions. Default: every 250 ms, or every 2 seconds. */
  readonly polling?: FeedPolling | null;
}

const POLLING: FeedPolling = { busyMs: 250, idleMs: 2_000, clock: systemClock };

/** All sessions that are followed in this process, each with one tail for all its readers. */
export class SessionFeeds {
  readonly live: LiveSource;
  readonly #lookup: SessionLookup;
  readonly #tails: Map<string, SessionTail> = new Map();
  #isClosed = false;

  private constructor(lookup: SessionLookup, live: LiveSource) {
    this.#lookup = lookup;
    this.live = live;
  }

  static of(runtime: object, lookup: SessionLookup, live: LiveSource): SessionFeeds {
    const feeds = new SessionFeeds(lookup, live);
    keepFeeds(runtime, feeds);
    return feeds;
  }

  /** A reader that listens from now on; it reads when `readOn` is called, and then checks the owner. */
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

  /** The session was deleted. */
  end(sessionId: string): void {
    this.#tails.get(sessionId)?.end();
  }

  close(): void {
    this.#isClosed = true;
    for (const tail of Array.from(this.#tails.values())) tail.end();
  }

  #tailOf(sessionId: string): SessionTail {
    const tail = new SessionTail(
      {
        lookup: this.#lookup,
        live: this.live,
        abandoned: (left) => {
          if (this.#tails.get(sessionId) === left) this.#tails.delete(sessionId);
        },
      },
      sessionId,
    );
    this.#tails.set(sessionId, tail);
    return tail;
  }
}
