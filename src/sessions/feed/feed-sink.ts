import type { FollowedEvent, LiveStreamed, LogPosition } from './live-source.ts';

/** Receives the events of a reader. */
export interface FeedSink {
  /** Whether there is capacity for a page of the log. */
  readonly isWanted: boolean;
  /** Takes the next event. A live event is the same object for all readers of the session. */
  take(event: FollowedEvent, isLive: boolean): void;
  /** Takes texts from their beginning. `known` has the pieces that were taken before. */
  takeText(events: readonly LiveStreamed[], known: ReadonlySet<LiveStreamed>): void;
  /** Delivers the events that were taken. */
  flush(): void;
  /** Ends the feed, with an error if reading failed, otherwise with null. */
  end(error: unknown): void;
}

export interface FeedStart {
  /** Only this execution. Default: all, from the newest on. */
  readonly executionId?: string | undefined;
  readonly after?: LogPosition | undefined;
  /** Without `after`: last known number of the newest execution. Default 0. */
  readonly seq?: number | undefined;
  /** Whether the given position cannot be read, so that the feed begins with a gap. Default false. */
  readonly isLost?: boolean;
  /** Events per page of the log. Default 200. */
  readonly pageSize?: number | undefined;
}
