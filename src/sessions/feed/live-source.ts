import { isNumbered, type AgentEvent, type EventOf } from '../../events/agent-event.ts';
import type { SessionEvent } from '../session-worker.ts';

/** A position in the log of a session. The reader has all events of the execution up to this number. */
export interface LogPosition {
  readonly executionId: string;
  readonly seq: number;
}

/** A gap in the feed, because part of the log is missing. Read the conversation again with `messages`. */
export interface FeedGap {
  readonly type: 'gap';
  /** The execution that the feed continues with. */
  readonly executionId: string;
}

/**
 * A notice that the worker of a running session stopped answering, so that the session waits for another one, or that
 * the session has a worker again. It is not in the log.
 */
export interface FeedWorker {
  readonly type: 'worker';
  readonly executionId: string;
  readonly isLost: boolean;
}

/**
 * An event that `follow` yields: from the log or a stream, a gap, or a notice about the worker. The feed continues after
 * the `seq` of a gap.
 */
export interface FollowedEvent extends Omit<SessionEvent, 'event'> {
  readonly event: AgentEvent | FeedGap | FeedWorker;
}

/** An event as a worker sends it. */
export interface LiveEvent extends SessionEvent {
  /** Number of the last event in the log before this one. A reader needs that event first. */
  readonly follows: number;
}

/** A piece of the text of an answer or of reasoning. */
export type StreamedText = EventOf<'StreamChunk'> | EventOf<'ReasoningDelta'>;
export type StreamedEvent = StreamedText | EventOf<'ToolCallDelta'>;

export interface LiveStreamed extends LiveEvent {
  readonly event: StreamedEvent;
}

/** Text that a worker has streamed and that is not in the log yet, each text from its beginning. */
export interface TextSoFar {
  readonly executionId: string;
  readonly follows: number;
  /** Pieces of text as they were sent, with the arguments of a call in one event. */
  readonly events: readonly LiveStreamed[];
}

/** Listener for the work of other processes on a session. */
export interface RemoteListener {
  /** Called with text that a worker streams. This process may not have read the log up to `follows` yet. */
  text(live: LiveStreamed): void;
  /** Called when the session has changed in the store. */
  changed(): void;
}

/** Source of live events: the workers of this process, and those that a bus reaches. */
export interface LiveSource {
  /**
   * Whether changes by other processes are reported. The store is then polled only for messages that the bus may lose.
   */
  readonly isRemote: boolean;
  /**
   * Notifies the listener of the events of a session in order, and makes its worker stream. Returns a function that
   * removes the listener.
   */
  listen(
    sessionId: string,
    listener: (event: LiveEvent) => void,
    remote?: RemoteListener,
  ): () => void;
  /** Returns the text that a worker of this process has streamed. */
  localText(sessionId: string): TextSoFar | null;
  /** Returns the text since a position; null if no worker has streamed any, or none answers. */
  textSoFar(sessionId: string, position: LogPosition): TextSoFar | null | Promise<TextSoFar | null>;
}

export const isLiveStreamed = (live: LiveEvent): live is LiveStreamed =>
  !isNumbered(live.event.type);

/** Whether the text is not older than a position. Text of a worker that has lost the session may be older. */
export const isCurrentText = (
  text: TextSoFar | null,
  { executionId, seq }: LogPosition,
): text is TextSoFar => text?.executionId === executionId && text.follows >= seq;

/** Whether an event is the first of the execution that comes right after a position. */
export function beginsAfter(event: AgentEvent, executionId: string | null, seq: number): boolean {
  if (event.type !== 'AgentStarted' || event.resumed) return false;
  const { previous } = event;
  if (executionId === null) return previous === undefined;
  return previous?.executionId === executionId && previous.seq === seq;
}
