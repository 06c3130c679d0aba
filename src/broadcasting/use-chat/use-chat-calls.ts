import type { EventOf } from '../../events/agent-event.ts';
import { canonicalJson, type JsonObject } from '../../json.ts';
import { askedMark, type OnwardAsked, type UiMessageChunk } from './use-chat-chunk.ts';

interface ShownCall {
  readonly tool: string;
  state: 'streaming' | 'known' | 'over';
  /** As the client has them. */
  args: string;
  asked: boolean;
}

const discarded = { onward: { discarded: true } } as const;
const NEVER_MADE = 'This call was never made: the answer of the model broke off.';

/** The tool calls of one message. Calls of nested agents are shown only where a person has to answer. */
export class CallParts {
  readonly #calls: Map<string, ShownCall> = new Map();

  delta({ toolCallId, tool, argsDelta }: EventOf<'ToolCallDelta'>): readonly UiMessageChunk[] {
    const chunks: UiMessageChunk[] = [];
    let call = this.#calls.get(toolCallId);
    if (!call) {
      if (tool === '') return [];
      call = { tool, state: 'streaming', args: '', asked: false };
      this.#calls.set(toolCallId, call);
      chunks.push({ type: 'tool-input-start', toolCallId, toolName: tool });
    }
    if (call.state !== 'streaming') return [];
    chunks.push({ type: 'tool-input-delta', toolCallId, inputTextDelta: argsDelta });
    return chunks;
  }

  started(event: EventOf<'ToolCallStarted'>): readonly UiMessageChunk[] {
    const { parentAgentId, tool, toolCallId, args } = event;
    if (parentAgentId !== null && !this.#calls.has(toolCallId)) return [];
    return this.#known(toolCallId, tool, args);
  }

  approval(event: EventOf<'ToolApprovalRequested'>): UiMessageChunk[] {
    const { tool, toolCallId, args } = event;
    const chunks = this.#known(toolCallId, tool, args, askedMark(event));
    const call = this.#calls.get(toolCallId);
    if (!call || call.asked) return chunks;
    call.asked = true;
    chunks.push({ type: 'tool-approval-request', approvalId: toolCallId, toolCallId });
    return chunks;
  }

  completed(event: EventOf<'ToolCallCompleted'>): readonly UiMessageChunk[] {
    const { parentAgentId, tool: toolName, toolCallId, success, result } = event;
    const call = this.#calls.get(toolCallId);
    if (call?.state === 'over' || (!call && parentAgentId !== null)) return [];
    const isNew = call?.state !== 'known';
    this.#calls.set(toolCallId, { tool: toolName, args: '', asked: true, state: 'over' });
    if (success) {
      const output: UiMessageChunk = { type: 'tool-output-available', toolCallId, output: result };
      // no event said that it began
      return isNew
        ? [{ type: 'tool-input-available', toolCallId, toolName, input: {} }, output]
        : [output];
    }
    const errorText = errorTextOf(event);
    const { args: input = null } = event;
    if (isNew) return [{ type: 'tool-input-error', toolCallId, toolName, input, errorText }];
    if (call?.asked && event.error === 'denied')
      return [{ type: 'tool-output-denied', toolCallId }];
    return [{ type: 'tool-output-error', toolCallId, errorText }];
  }

  /** The step is over: calls that were still arriving were never asked for. */
  close(): readonly UiMessageChunk[] {
    const chunks: UiMessageChunk[] = [];
    for (const [toolCallId, call] of this.#calls) {
      if (call.state !== 'streaming') continue;
      call.state = 'over';
      chunks.push({
        type: 'tool-input-error',
        toolCallId,
        toolName: call.tool,
        input: null,
        errorText: NEVER_MADE,
        toolMetadata: discarded,
      });
    }
    return chunks;
  }

  /** Said once, and again where a person has changed the arguments: every time is a tool call to the client. */
  #known(
    toolCallId: string,
    toolName: string,
    args: JsonObject,
    mark?: OnwardAsked,
  ): UiMessageChunk[] {
    const call = this.#calls.get(toolCallId);
    const text = canonicalJson(args);
    if (call?.state === 'over' || (call?.state === 'known' && call.args === text)) return [];
    this.#calls.set(toolCallId, {
      tool: toolName,
      state: 'known',
      args: text,
      asked: call?.asked ?? false,
    });
    const asked = mark && { providerMetadata: mark };
    return [{ type: 'tool-input-available', toolCallId, toolName, input: args, ...asked }];
  }
}

/** The words that explain most: those of the error, else what the model is told. */
const errorTextOf = ({ error, result }: EventOf<'ToolCallCompleted'>): string =>
  typeof result === 'string' && !result.startsWith('Error: ')
    ? result
    : (error ?? 'The call failed.');
