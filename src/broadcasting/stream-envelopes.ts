import type { AgentEvent, EventOf } from '../events/agent-event.ts';
import type { BroadcastSettings } from './broadcast-config.ts';
import type { Envelope } from './envelope.ts';
import { assembled } from './envelope-of.ts';
import { envelopeBudget, HEAD_BYTES, splitText, wireBytes } from './frame-budget.ts';

/** Bytes of a chunk's payload without its text, and of the agent ids. */
const CHUNK_BYTES = 300;
/** Bytes of text that a chunk has even in the smallest frame. */
const MIN_SPACE = 100;

/** A text that is being sent. */
interface OpenText {
  readonly messageId: string;
  readonly step: number;
  readonly attempt: number;
  /** Additional chunks from splits: they shift the index of later chunks. */
  extra: number;
  next: number;
  /** Characters that were sent since the text was last restarted. */
  length: number;
  restart: number | undefined;
  /** Whether it was shown, and is neither complete nor discarded. */
  isShown: boolean;
}

/** Creates the envelopes of chunks and deltas. They have no number: the finished message or call replaces them. */
export class StreamEnvelopes {
  readonly #sessionId: string;
  readonly #space: number;
  readonly #includeReasoning: boolean;
  /** Texts by agent, because nested agents write at the same time. */
  readonly #open: Map<string, OpenText> = new Map();

  constructor(
    { sessionId, executionId }: { readonly sessionId: string; readonly executionId: string },
    { frameBytes, includeReasoning }: BroadcastSettings,
  ) {
    const ids = wireBytes(sessionId) + wireBytes(executionId);
    const space = envelopeBudget(frameBytes) - HEAD_BYTES - CHUNK_BYTES - ids;
    this.#sessionId = sessionId;
    this.#includeReasoning = includeReasoning;
    this.#space = Math.max(MIN_SPACE, space);
  }

  /** Sends the envelopes of a streamed event. */
  send(event: AgentEvent, push: (envelope: Envelope) => void): void {
    if (event.type === 'StreamChunk') this.chunk(event, push);
    else if (event.type === 'ToolCallDelta') this.delta(event, push);
    else if (event.type === 'ReasoningDelta') this.#reasoning(event, push);
  }

  chunk(event: EventOf<'StreamChunk'>, push: (envelope: Envelope) => void): void {
    const { content } = event;
    const text = this.#textOf(event);
    const pieces = this.#pieces(content);
    text.length = event.offset;
    text.restart = event.restart;
    if (pieces === null) return push(this.#chunk(event, text, event.index + text.extra, content));
    for (const [i, piece] of pieces.entries())
      push(this.#chunk(event, text, event.index + text.extra + i, piece));
    text.extra += pieces.length - 1;
  }

  delta(event: EventOf<'ToolCallDelta'>, push: (envelope: Envelope) => void): void {
    const { toolCallId: tool_call_id, tool, argsDelta } = event;
    let { offset } = event;
    for (const args_delta of this.#pieces(argsDelta) ?? [argsDelta]) {
      push(
        assembled('agent.tool.delta', event, this.#sessionId, null, null, {
          tool_call_id,
          tool,
          args_delta,
          offset,
        }),
      );
      offset += args_delta.length;
    }
  }

  /** Sends reasoning of the root agent only. */
  #reasoning(event: EventOf<'ReasoningDelta'>, push: (envelope: Envelope) => void): void {
    if (!this.#includeReasoning || event.parentAgentId !== null) return;
    const { messageId: message_id, stepNumber: step, attempt, restart } = event;
    let { offset } = event;
    for (const content of this.#pieces(event.content) ?? [event.content]) {
      push(
        assembled('agent.reasoning.chunk', event, this.#sessionId, null, null, {
          message_id,
          step,
          attempt,
          content,
          offset,
          ...(restart !== undefined && { restart }),
        }),
      );
      offset += content.length;
    }
  }

  /** Marks a text as complete before the envelope of the event that completes it. */
  closing(event: AgentEvent, push: (envelope: Envelope) => void): void {
    if (this.#open.size === 0) return;
    const text = this.#open.get(event.agentId);
    if (text === undefined) return;
    const { type } = event;
    // a hook may restart the text within the same attempt: the chunk index continues
    if (type === 'StreamDiscarded') text.isShown = false;
    if (type === 'StepFailed') this.#open.delete(event.agentId);
    const isOver =
      type === 'AgentStepCompleted' ||
      (type === 'MessageAdded' && event.messageId === text.messageId);
    if (!isOver) return;
    if (text.isShown) push(this.#chunk(event, text, text.next, '', true));
    this.#open.delete(event.agentId);
  }

  #textOf({ agentId, messageId, stepNumber, attempt }: EventOf<'StreamChunk'>): OpenText {
    const known = this.#open.get(agentId);
    if (known?.messageId === messageId) return known;
    const text: OpenText = {
      messageId,
      step: stepNumber,
      attempt,
      extra: 0,
      next: 0,
      length: 0,
      restart: undefined,
      isShown: true,
    };
    this.#open.set(agentId, text);
    return text;
  }

  #chunk(
    event: AgentEvent,
    text: OpenText,
    index: number,
    content: string,
    isComplete: boolean = false,
  ): Envelope {
    const offset = text.length;
    text.next = index + 1;
    text.length += content.length;
    text.isShown = true;
    return assembled('agent.stream.chunk', event, this.#sessionId, null, null, {
      message_id: text.messageId,
      step: text.step,
      attempt: text.attempt,
      chunk_index: index,
      content,
      offset,
      ...(text.restart !== undefined && { restart: text.restart }),
      is_complete: isComplete,
    });
  }

  /** Splits a text; null if it fits, which is nearly always. */
  #pieces(content: string): readonly string[] | null {
    return content.length * 7 <= this.#space ? null : splitText(content, this.#space);
  }
}
