import type { AgentEvent, EventOf } from '../../events/agent-event.ts';
import type { StreamedEvent, StreamedText } from './live-source.ts';

/** The newest piece that a reader has, by type of text. */
interface Mark extends Record<StreamedText['type'], StreamedText | null> {
  /** Number of characters of the arguments, by call. */
  calls: Map<string, number> | null;
  /** Whether the beginning of the text is lost. The finished message has it. */
  isLost: boolean;
}

/** How much of each agent's streamed text a reader has. */
export class TextMarks {
  readonly #agents: Map<string, Mark> = new Map();

  /** Records the event if it is the next one of its text. */
  take(event: StreamedEvent): 'next' | 'known' | 'missing' {
    const mark = this.#agents.get(event.agentId);
    if (event.type === 'ToolCallDelta') return this.#takeDelta(event, mark);
    const { offset, type } = event;
    const before = mark?.[type] ?? null;
    const length = before && isSameText(before, event) ? before.offset + before.content.length : 0;
    if (offset < length) return 'known';
    if (offset > length) return mark?.isLost ? 'known' : 'missing';
    (mark ?? this.#add(event.agentId))[type] = event;
    return 'next';
  }

  /** Returns the event without arguments that the reader has, because the arguments of a call come in one event. */
  rest(event: StreamedEvent): StreamedEvent {
    if (event.type !== 'ToolCallDelta') return event;
    const { toolCallId, offset, argsDelta } = event;
    const known = (this.#agents.get(event.agentId)?.calls?.get(toolCallId) ?? 0) - offset;
    if (known <= 0 || known >= argsDelta.length) return event;
    return { ...event, argsDelta: argsDelta.slice(known), offset: offset + known };
  }

  /** Marks missing text as lost, so that it is not requested again until the log advances. */
  lose({ agentId }: StreamedEvent): void {
    (this.#agents.get(agentId) ?? this.#add(agentId)).isLost = true;
  }

  /** Forgets streamed text that an event of the log has: the text, one call, or all of the step. */
  finish(event: AgentEvent): void {
    const mark = this.#agents.get(event.agentId);
    if (!mark) return;
    const finished = finishedBy(event);
    if (finished === 'all') this.#agents.delete(event.agentId);
    else if (finished === 'text') mark.StreamChunk = mark.ReasoningDelta = null;
    else mark.calls?.delete(finished.toolCallId);
  }

  clear(): void {
    this.#agents.clear();
  }

  #takeDelta(
    event: EventOf<'ToolCallDelta'>,
    mark: Mark | undefined,
  ): 'next' | 'known' | 'missing' {
    const { toolCallId, offset, argsDelta } = event;
    const length = mark?.calls?.get(toolCallId) ?? 0;
    if (offset < length) return 'known';
    if (offset > length) return mark?.isLost ? 'known' : 'missing';
    const taken = mark ?? this.#add(event.agentId);
    taken.calls ??= new Map();
    taken.calls.set(toolCallId, offset + argsDelta.length);
    return 'next';
  }

  #add(agentId: string): Mark {
    const mark: Mark = { StreamChunk: null, ReasoningDelta: null, calls: null, isLost: false };
    this.#agents.set(agentId, mark);
    return mark;
  }
}

const isSameText = (a: StreamedText, b: StreamedText): boolean =>
  a.messageId === b.messageId && a.attempt === b.attempt && a.restart === b.restart;

/** Returns the part of its agent's streamed text that an event of the log replaces. */
export function finishedBy(event: AgentEvent): 'text' | 'all' | { readonly toolCallId: string } {
  switch (event.type) {
    case 'MessageAdded':
      return 'text';
    case 'ToolCallStarted':
    case 'ToolCallCompleted':
    case 'ToolApprovalRequested':
    case 'ToolInputRequested':
      return event;
    default:
      return 'all';
  }
}
