import { isNumbered, type AgentEvent, type EventOf } from '../../events/agent-event.ts';
import type { SessionEvent } from '../session-worker.ts';

/** A position in the log of a session: everything of an execution up to this number is known. */
export interface LogPosition {
  readonly executionId: string;
  readonly seq: number;
}

/** Part of the log is missing: read the conversation again with `messages`. */
export interface FeedGap {
  readonly type: 'gap';
  /** The execution that the feed continues with. */
  readonly executionId: string;
}

/** What `follow` yields: an event of the log or of a stream, or a gap. `seq` of a gap is where the feed continues. */
export interface FollowedEvent extends Omit<SessionEvent, 'event'> {
  readonly event: AgentEvent | FeedGap;
}

/** An event as a worker sends it. */
export interface LiveEvent extends SessionEvent {
  /** Number of the newest event in the log before it: until a reader has that one, this one waits. */
  readonly follows: number;
}

/** A piece of text: of an answer, or of reasoning. */
export type StreamedText = EventOf<'StreamChunk'> | EventOf<'ReasoningDelta'>;
export type StreamedEvent = StreamedText | EventOf<'ToolCallDelta'>;

export interface LiveStreamed extends LiveEvent {
  readonly event: StreamedEvent;
}

/** What a worker has streamed and the log does not have yet, each text from its beginning. */
export interface TextSoFar {
  readonly executionId: string;
  readonly follows: number;
  /** Pieces of text as they were sent; the arguments of a call in one. */
  readonly events: readonly LiveStreamed[];
}

/** Where live events come from: the workers of this process, or those that a bus reaches. */
export interface LiveSource {
  /** Calls the listener with the events of a session in order, and has its worker stream. */
  listen(sessionId: string, listener: (event: LiveEvent) => void): () => void;
  /** Null where no worker has streamed anything, or none answers. */
  textSoFar(sessionId: string): TextSoFar | null | Promise<TextSoFar | null>;
}

export const isLiveStreamed = (live: LiveEvent): live is LiveStreamed =>
  !isNumbered(live.event.type);

/** Whether a run or resume of the session's own agent ends or pauses with it, also where it continues elsewhere. */
export const isRunEnd = ({ type, parentAgentId }: AgentEvent): boolean =>
  parentAgentId === null &&
  (type === 'AgentFinished' || type === 'AgentFailed' || type === 'AgentPaused');
