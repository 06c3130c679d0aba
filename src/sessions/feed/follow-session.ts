import { invalidOption } from '../../errors/agent-error.ts';
import { checkedPlace } from '../check-names.ts';
import type { OwnerOptions } from '../session-options.ts';
import type { FeedReader } from './feed-reader.ts';
import type { FeedSink } from './feed-sink.ts';
import type { FollowedEvent, LiveStreamed, LogPosition } from './live-source.ts';
import type { FeedOptions, SessionFeeds } from './session-feeds.ts';

export interface FollowOptions extends OwnerOptions {
  /** Only this execution: the feed ends when a later one begins. Default: the newest and all that follow. */
  readonly executionId?: string;
  /** Last known position in the log. Default: the beginning of the execution. */
  readonly after?: LogPosition;
  readonly signal?: AbortSignal;
}

/** Most events that wait for a slow reader. After that it continues with the log. */
const MOST_WAITING = 4_096;

/** Yields the log of a session from a position on, then live events, each event once and in order. */
export function followSession(
  feeds: SessionFeeds,
  sessionId: string,
  options: FollowOptions & Pick<FeedOptions, 'polling'>,
): AsyncIterable<FollowedEvent> {
  const { executionId, after } = options;
  if (after !== undefined) {
    checkedPlace('follow after.seq', after.seq);
    if (typeof after.executionId !== 'string')
      throw invalidOption('follow after.executionId', after.executionId, 'the id of an execution');
    if (executionId !== undefined && after.executionId !== executionId)
      throw invalidOption('follow after.executionId', after.executionId, `"${executionId}"`);
  }
  return { [Symbol.asyncIterator]: () => new FollowIterator(feeds, sessionId, options) };
}

type Result = IteratorResult<FollowedEvent, undefined>;
type Waiter = { readonly resolve: (result: Result) => void; readonly reject: (e: unknown) => void };

class FollowIterator implements AsyncIterator<FollowedEvent, undefined>, FeedSink {
  readonly #reader: FeedReader;
  readonly #signal: AbortSignal | undefined;
  readonly #leave = (): void => {
    this.#drop();
    this.#reader.end();
  };
  #inbox: FollowedEvent[] = [];
  /** Number of events of the inbox that were taken. */
  #taken = 0;
  #waiters: Waiter[] = [];
  #isEnded = false;
  #error: unknown = null;

  constructor(
    feeds: SessionFeeds,
    sessionId: string,
    { signal, ...options }: FollowOptions & Pick<FeedOptions, 'polling'>,
  ) {
    this.#reader = feeds.open(sessionId, this, options);
    this.#signal = signal;
    signal?.addEventListener('abort', this.#leave, { once: true });
    if (signal?.aborted) this.#reader.end();
    else this.#reader.readOn();
  }

  get isWanted(): boolean {
    return this.#taken === this.#inbox.length;
  }

  next(): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.flush();
    });
  }

  return(): Promise<Result> {
    this.#leave();
    return Promise.resolve({ done: true, value: undefined });
  }

  take(event: FollowedEvent, isLive: boolean): void {
    this.#inbox.push(event);
    if (isLive && this.#inbox.length - this.#taken > MOST_WAITING) this.#reader.fallBehind();
  }

  takeText(events: readonly LiveStreamed[], known: ReadonlySet<LiveStreamed>): void {
    for (const live of events) if (!known.has(live)) this.#inbox.push(live);
  }

  flush(): void {
    while (this.#waiters.length > 0) {
      const event = this.#inbox[this.#taken];
      if (event === undefined) break;
      this.#taken += 1;
      this.#waiters.shift()?.resolve({ done: false, value: event });
    }
    if (!this.isWanted) return;
    this.#drop();
    if (this.#isEnded) this.#finish();
    else if (this.#waiters.length > 0 && !this.#reader.isLive) this.#reader.readOn();
  }

  end(error: unknown): void {
    this.#signal?.removeEventListener('abort', this.#leave);
    this.#isEnded = true;
    this.#error = error;
    this.flush();
  }

  #drop(): void {
    this.#inbox = [];
    this.#taken = 0;
  }

  #finish(): void {
    for (const { resolve, reject } of this.#waiters.splice(0)) {
      if (this.#error === null) resolve({ done: true, value: undefined });
      else reject(this.#error);
      this.#error = null;
    }
  }
}
