import { UiMessageEncoder } from '../broadcasting/use-chat/use-chat-encoder.ts';
import type { UiMessageChunk } from '../broadcasting/use-chat/use-chat-chunk.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import { jsonText, parseJson, sameJson, toJsonValue, type JsonValue } from '../json.ts';
import type { AgUiEvent } from './ag-ui-event.ts';

type Events = readonly AgUiEvent[];
type ChunkOf<T extends UiMessageChunk['type']> = Extract<UiMessageChunk, { type: T }>;

type PieceEnd = Extract<UiMessageChunk, { type: 'text-end' | 'reasoning-end' }>;
type Piece =
  | PieceEnd
  | Extract<
      UiMessageChunk,
      { type: 'text-start' | 'reasoning-start' } | { type: 'text-delta' | 'reasoning-delta' }
    >;

interface SentCall {
  readonly name: string;
  /** Arguments as the client has them, as JSON. */
  args: string;
  isOpen: boolean;
}

const discarded = { onward: { discarded: true } };

/**
 * The texts, calls and steps of one agent as AG-UI events. It translates the parts that `useChat` gets, so retries,
 * restarts and interrupted answers mean the same in both.
 */
export class AgentParts {
  readonly #encoder: UiMessageEncoder;
  /** Prefix of call ids: agents may use the same id, and so may later executions. */
  readonly #scope: string;
  readonly #calls: Map<string, SentCall> = new Map();
  readonly #texts: Map<string, number> = new Map();
  /** Calls that run. */
  readonly #running: Set<string> = new Set();
  #step = 1;
  /** The message of the step, to which its calls belong. */
  #messageId: string | null = null;
  #openStep: string | null = null;

  constructor(scope: string, includeReasoning: boolean) {
    this.#encoder = new UiMessageEncoder(undefined, includeReasoning);
    this.#scope = scope;
  }

  /** Ids of the calls that run. */
  get openCalls(): readonly string[] {
    return [...this.#running].map((callId) => this.wireId(callId));
  }

  /** Returns the id under which the client knows a call; ids of providers are only unique within one agent. */
  wireId(callId: string): string {
    return `${this.#scope}:${callId}`;
  }

  has(callId: string): boolean {
    return this.#calls.has(callId);
  }

  push(event: AgentEvent): Events {
    if (event.type === 'AgentStepStarted') this.#step = event.stepNumber;
    if (event.type === 'ToolCallStarted') this.#running.add(event.toolCallId);
    if (event.type === 'ToolCallCompleted') this.#running.delete(event.toolCallId);
    // each agent is encoded as if it were alone
    const chunks = this.#encoder.push({ ...event, parentAgentId: null });
    return chunks.flatMap((chunk) => this.#eventsOf(chunk, event));
  }

  /** Ends what is open. */
  close(): Events {
    const chunks = this.#encoder.close();
    return chunks.flatMap((chunk) => this.#eventsOf(chunk, null));
  }

  #eventsOf(chunk: UiMessageChunk, event: AgentEvent | null): Events {
    switch (chunk.type) {
      case 'start-step':
        this.#messageId = null;
        this.#openStep = `step ${this.#step}`;
        return [{ type: 'STEP_STARTED', stepName: this.#openStep }];
      case 'finish-step': {
        const stepName = this.#openStep;
        this.#openStep = null;
        return stepName === null ? [] : [{ type: 'STEP_FINISHED', stepName }];
      }
      case 'text-start':
      case 'text-delta':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.#text(chunk);
      case 'tool-input-start':
        return this.#start(chunk.toolCallId, chunk.toolName);
      case 'tool-input-delta':
        return this.#grow(chunk.toolCallId, chunk.inputTextDelta);
      case 'tool-input-available':
        return this.#known(chunk.toolCallId, chunk.toolName, chunk.input);
      case 'tool-input-error':
        return this.#unready(chunk);
      case 'tool-output-available':
        return [this.#result(chunk.toolCallId, textOf(chunk.output))];
      case 'tool-output-error':
        return [this.#result(chunk.toolCallId, chunk.errorText, { error: true })];
      case 'tool-output-denied':
        return [this.#result(chunk.toolCallId, denialIn(event), { denied: true })];
      case 'data-onward-retry':
        return [{ type: 'CUSTOM', name: 'onward.retry', value: { ...chunk.data } }];
      case 'data-onward-progress': {
        const { tool_call_id, ...rest } = chunk.data;
        const value = { toolCallId: this.wireId(tool_call_id), ...rest };
        return [{ type: 'CUSTOM', name: 'onward.tool_progress', value }];
      }
      default:
        return []; // the run says how it stands
    }
  }

  #text(chunk: Piece): Events {
    const messageId = this.#textId(chunk.id);
    switch (chunk.type) {
      case 'text-start':
        this.#messageId = messageId;
        return [{ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }];
      case 'text-delta':
        return [{ type: 'TEXT_MESSAGE_CONTENT', messageId, delta: chunk.delta }];
      case 'text-end':
        return [{ type: 'TEXT_MESSAGE_END', messageId, ...this.#discarded(chunk) }];
      case 'reasoning-start':
        return [
          { type: 'REASONING_START', messageId },
          { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
        ];
      case 'reasoning-delta':
        return [{ type: 'REASONING_MESSAGE_CONTENT', messageId, delta: chunk.delta }];
      case 'reasoning-end':
        return [
          { type: 'REASONING_MESSAGE_END', messageId, ...this.#discarded(chunk) },
          { type: 'REASONING_END', messageId },
        ];
    }
  }

  #discarded({ id, providerMetadata }: PieceEnd): { readonly metadata?: typeof discarded } {
    if (providerMetadata === undefined) return {};
    this.#texts.set(id, (this.#texts.get(id) ?? 0) + 1);
    this.#messageId = null;
    return { metadata: discarded };
  }

  /** Returns the id of a text. Text that was discarded keeps its message, so what replaces it is another one. */
  #textId(id: string): string {
    const count = this.#texts.get(id) ?? 0;
    return count === 0 ? id : `${id}:${count + 1}`;
  }

  #start(callId: string, name: string): Events {
    this.#calls.set(callId, { name, args: '', isOpen: true });
    const toolCallId = this.wireId(callId);
    this.#messageId ??= `${toolCallId}:message`;
    const parentMessageId = this.#messageId;
    return [{ type: 'TOOL_CALL_START', toolCallId, toolCallName: name, parentMessageId }];
  }

  #grow(callId: string, delta: string): Events {
    const call = this.#calls.get(callId);
    if (!call?.isOpen || delta === '') return [];
    call.args += delta;
    return [{ type: 'TOOL_CALL_ARGS', toolCallId: this.wireId(callId), delta }];
  }

  /** The arguments with which the call runs. Those that the client has cannot be taken back, only followed by others. */
  #known(callId: string, name: string, input: JsonValue): Events {
    const events: AgUiEvent[] = this.#calls.has(callId) ? [] : [...this.#start(callId, name)];
    const call = this.#calls.get(callId);
    if (!call) return events;
    const toolCallId = this.wireId(callId);
    if (call.args === '') events.push(...this.#grow(callId, textOf(input)));
    events.push(...this.#end(callId));
    const shown = parseJson(call.args);
    if (shown.ok && sameJson(shown.value, input)) return events;
    call.args = textOf(input);
    const value = { toolCallId, args: toJsonValue(input) };
    return [...events, { type: 'CUSTOM', name: 'onward.tool_call_args', value }];
  }

  #end(callId: string): Events {
    const call = this.#calls.get(callId);
    if (!call?.isOpen) return [];
    call.isOpen = false;
    return [{ type: 'TOOL_CALL_END', toolCallId: this.wireId(callId) }];
  }

  /** A call that could not run, or that the model never finished. */
  #unready({
    toolCallId,
    toolName,
    input,
    errorText,
    toolMetadata,
  }: ChunkOf<'tool-input-error'>): Events {
    const begin = this.#calls.has(toolCallId) ? [] : this.#start(toolCallId, toolName);
    const hasArgs = this.#calls.get(toolCallId)?.args !== '' || input === null;
    return [
      ...begin,
      ...(hasArgs ? [] : this.#grow(toolCallId, textOf(input))),
      ...this.#end(toolCallId),
      this.#result(toolCallId, errorText, {
        error: true,
        ...(toolMetadata && { discarded: true }),
      }),
    ];
  }

  #result(callId: string, content: string, facts?: { readonly [name: string]: true }): AgUiEvent {
    const toolCallId = this.wireId(callId);
    const messageId = `${toolCallId}:result`;
    const metadata = facts && { metadata: { onward: facts } };
    return { type: 'TOOL_CALL_RESULT', messageId, toolCallId, role: 'tool', content, ...metadata };
  }
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (jsonText(value) ?? 'null');

/** Returns what the agent reads about a call that was denied. */
const denialIn = (event: AgentEvent | null): string =>
  event?.type === 'ToolCallCompleted' && typeof event.result === 'string'
    ? event.result
    : 'A person denied this call.';
