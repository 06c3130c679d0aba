import type { AgentEvent, EventOf } from '../../events/agent-event.ts';
import type { StreamedEvent, StreamedText } from './live-source.ts';

/** The newest piece that is known. */
interface Mark extends Record<StreamedText['type'], StreamedText | null> {
  /** Characters of the arguments, by call. */
  calls: Map<string, number> | null;
  /** Its beginning cannot be had: the finished message brings it. */
  isLost: boolean;
}

/** How much of what each agent streams is known to a reader. */
export class TextMarks {
  readonly #agents: Map<string, Mark> = new Map();

  /** Takes the event into account if it is the next one of its text. */
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

  /** The event without the arguments that are known: those of a call come in one. */
  rest(event: StreamedEvent): StreamedEvent {
    if (event.type !== 'ToolCallDelta') return event;
    const { toolCallId, offset, argsDelta } = event;
    const known = (this.#agents.get(event.agentId)?.calls?.get(toolCallId) ?? 0) - offset;
    if (known <= 0 || known >= argsDelta.length) return event;
    return { ...event, argsDelta: argsDelta.slice(known), offset: offset + known };
  }

  /** Nothing can be done about what is missing: until the log moves, it is not asked for again. */
  lose({ agentId }: StreamedEvent): void {
    (this.#agents.get(agentId) ?? this.#add(agentId)).isLost = true;
  }

  /** An event of the log has what its agent has streamed: the text, one call, or with the step all of it. */
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

/** What of the streamed text of its agent an event of the log makes superfluous. */
export function finishedBy(event: AgentEvent): 'text' | 'all' | { readonly toolCallId: string } {
  switch (event.type) {
    case 'MessageAdded':
      return 'text';
    case 'ToolCallStarted':
    case 'ToolCallCompleted':
    case 'ToolApprovalRequested':
      return event;
    default:
      return 'all';
  }
}
