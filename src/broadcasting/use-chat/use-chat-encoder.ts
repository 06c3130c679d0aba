import type { AgentEvent, EventOf } from '../../events/agent-event.ts';
import type { FinishReason } from '../../inference/inference-driver.ts';
import { CallParts } from './use-chat-calls.ts';
import { answerIdOf, inputPart, type OnwardStop, type UiMessageChunk } from './use-chat-chunk.ts';
import { endingOf, isEnding, type EndingEvent } from './use-chat-ending.ts';
import { TextParts } from './use-chat-text.ts';

type Chunks = readonly UiMessageChunk[];
const none: Chunks = [];

/**
 * Converts the events of one execution to one assistant message of the AI SDK, through pauses, retries and restarts.
 */
export class UiMessageEncoder {
  readonly #text: TextParts = new TextParts();
  /** Reasoning parts; null if the client gets none. */
  readonly #reasoning: TextParts | null;
  readonly #calls: CallParts = new CallParts();
  readonly #givenId: string | null;
  #answerId: string | null = null;
  #executionId = '';
  #hasBegun = false;
  #inStep = false;
  #lastFinish: FinishReason | null = null;
  #stepCount = 0;
  /** The explanation that the client has. */
  #stop: OnwardStop | null = null;
  /** Questions of tools that wait. */
  readonly #inputs: Map<string, ReturnType<typeof inputPart>> = new Map();
  /** The chunks that close the stream if no event follows. */
  #closing: Chunks = none;

  constructor(messageId?: string, includeReasoning: boolean = false) {
    this.#givenId = messageId ?? null;
    this.#reasoning = includeReasoning ? new TextParts('reasoning') : null;
  }

  push(event: AgentEvent): Chunks {
    const chunks = this.#chunksOf(event);
    return this.#hasBegun || chunks.length === 0 ? chunks : [...this.begin(), ...chunks];
  }

  /** Starts a stream. The client continues the message that has this id. */
  begin(): Chunks {
    this.#hasBegun = true;
    const messageId = this.#givenId ?? this.#answerId ?? this.#executionId;
    return [
      { type: 'start', messageId, messageMetadata: { executionId: this.#executionId } },
      statusChunk('processing', this.#stepCount),
    ];
  }

  /** Notifies a client that shows the message whether its run has lost its worker. */
  worker(isLost: boolean): Chunks {
    if (!this.#hasBegun) return none;
    const data = { status: isLost ? 'lost' : 'found' } as const;
    return [{ type: 'data-onward-worker', data, transient: true }];
  }

  /** Closes the message after the last event. */
  close(): Chunks {
    if (this.#closing.length > 0) return this.#closing;
    return [...this.#endStep(), { type: 'finish', finishReason: 'other' }];
  }

  #chunksOf(event: AgentEvent): Chunks {
    // skip nested agents, except for what they ask
    if (event.parentAgentId !== null) return this.#called(event);
    this.#executionId = event.executionId;
    if (isEnding(event)) return this.#stopOrPause(event);
    switch (event.type) {
      case 'AgentStarted':
        return this.#starts();
      case 'MessageAdded':
        return event.role === 'user' ? this.#asked(event) : this.#answered(event);
      case 'AgentStepStarted':
        this.#stepCount = event.stepNumber - 1;
        return this.#startStep();
      case 'StreamChunk':
        return this.#text.chunk(event);
      case 'ReasoningDelta':
        return this.#reasoning?.chunk(event) ?? none;
      case 'ToolCallDelta':
        return this.#calls.delta(event);
      case 'StepFailed':
        return this.#failed(event);
      case 'StreamDiscarded':
        return this.#discard();
      case 'AgentStepCompleted':
        this.#lastFinish = event.finishReason;
        return this.#endStep();
      default:
        return this.#called(event);
    }
  }

  #answered(event: EventOf<'MessageAdded'>): Chunks {
    const { messageId, reasoning } = event;
    const thought =
      reasoning === undefined ? none : this.#reasoning?.whole({ messageId, content: reasoning });
    return [...(thought ?? none), ...this.#text.whole(event)];
  }

  #discard(): Chunks {
    return [...(this.#reasoning?.discard() ?? none), ...this.#text.discard()];
  }

  #called(event: AgentEvent): Chunks {
    if (event.type === 'ToolCallStarted') return this.#calls.started(event);
    if (event.type === 'ToolProgress') return progressChunks(event);
    if (event.type === 'ToolApprovalRequested') return this.#calls.approval(event);
    if (event.type === 'ToolInputRequested') return this.#asks(event);
    return event.type === 'ToolCallCompleted' ? this.#calls.completed(event) : none;
  }

  /** Shows a question. A pause repeats those that still wait, so a part with its id replaces it. */
  #asks({ toolCallId: callId, ...event }: EventOf<'ToolInputRequested'>): Chunks {
    const part = inputPart({ callId, ...event });
    this.#inputs.set(event.inputId, part);
    return [part];
  }

  /** Closes all questions: the run continues or has ended. */
  #closeInputs(): Chunks {
    const chunks = [...this.#inputs.values()].map((part): UiMessageChunk => {
      const { schema: _, ...data } = part.data;
      return { ...part, data: { ...data, status: 'closed' } };
    });
    this.#inputs.clear();
    return chunks;
  }

  #asked({ messageId }: EventOf<'MessageAdded'>): Chunks {
    if (!this.#hasBegun) this.#answerId = answerIdOf(messageId);
    return none;
  }

  /** Handles the start of a run, also after a pause, a grant or a crash: the message continues and is open again. */
  #starts(): Chunks {
    const wasClosed = this.#closing.length > 0;
    this.#closing = none;
    const inputs = this.#closeInputs();
    if (!wasClosed || !this.#stop) return inputs;
    const explained = this.#explain({
      status: 'processing',
      stop_reason: null,
      message: 'It continues.',
      resolved_by: null,
      remedy: null,
      step_count: this.#stop.step_count,
    });
    return [...inputs, ...explained];
  }

  /** Starts a step. A step that is retried, or repeated by another process, is shown as one. */
  #startStep(): Chunks {
    if (this.#inStep) return [...this.#discard(), ...this.#calls.close()];
    this.#inStep = true;
    return [{ type: 'start-step' }];
  }

  #endStep(): Chunks {
    const thought = this.#reasoning?.end() ?? none;
    const chunks = [...thought, ...this.#text.end(), ...this.#calls.close()];
    if (!this.#inStep) return chunks;
    this.#inStep = false;
    return [...chunks, { type: 'finish-step' }];
  }

  #failed({ stepNumber: step, attempt, waitMs, error }: EventOf<'StepFailed'>): Chunks {
    const chunks = [...this.#discard(), ...this.#calls.close()];
    if (waitMs <= 0) return chunks;
    const data = { step, attempt, wait_ms: waitMs, message: error.message };
    return [...chunks, { type: 'data-onward-retry', data, transient: true }];
  }

  #stopOrPause(event: EndingEvent): Chunks {
    const ending = endingOf(event, this.#lastFinish);
    const { status, step_count } = ending.stop;
    this.#closing = ending.closing;
    return [
      ...this.#endStep(),
      ...(event.type === 'AgentPaused' ? none : this.#closeInputs()),
      ...(ending.needsExplanation || this.#stop ? this.#explain(ending.stop) : none),
      statusChunk(status, step_count),
      { type: 'message-metadata', messageMetadata: ending.metadata },
    ];
  }

  /** Updates the one status part; later text replaces it. */
  #explain(data: OnwardStop): Chunks {
    this.#stop = data;
    return [{ type: 'data-onward-stop', id: 'onward-stop', data }];
  }
}

const progressChunks = ({ parentAgentId, ...event }: EventOf<'ToolProgress'>): Chunks => {
  if (parentAgentId !== null) return none;
  const { toolCallId: tool_call_id, message, progress, total } = event;
  const data = {
    tool_call_id,
    ...(message !== undefined && { message }),
    ...(progress !== undefined && { progress }),
    ...(total !== undefined && { total }),
  };
  return [{ type: 'data-onward-progress', data, transient: true }];
};

const statusChunk = (status: OnwardStop['status'], step_count: number): UiMessageChunk => ({
  type: 'data-onward-status',
  data: { status, step_count },
  transient: true,
});
