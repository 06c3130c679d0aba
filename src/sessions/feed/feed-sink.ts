import type { FollowedEvent, LiveStreamed, LogPosition } from './live-source.ts';

/** Takes what a reader of a session gets. */
export interface FeedSink {
  /** Whether there is capacity for a page of the log. */
  readonly isWanted: boolean;
  /** The next event. A `live` one is the same object for all readers of the session. */
  take(event: FollowedEvent, isLive: boolean): void;
  /** Texts from their beginning; `known` has what was taken before. */
  takeText(events: readonly LiveStreamed[], known: ReadonlySet<LiveStreamed>): void;
  /** What was taken can be handed on. */
  flush(): void;
  /** Nothing more comes; with an error where reading failed. */
  end(error: unknown): void;
}

export interface FeedStart {
  /** Only this execution. Default: all, from the newest on. */
  readonly executionId?: string | undefined;
  readonly after?: LogPosition | undefined;
  /** Without `after`: up to where the newest execution is known. Default 0. */
  readonly seq?: number | undefined;
  /** A position was given that cannot be read: the feed begins with a gap. */
  readonly isLost?: boolean;
  /** Events of the log that are read at once. Default 200. */
  readonly pageSize?: number | undefined;
}
