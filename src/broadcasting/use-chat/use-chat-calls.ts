import type { EventOf } from '../../events/agent-event.ts';
import { canonicalJson, type JsonObject } from '../../json.ts';
import { approvalMetadata, type OnwardAsked, type UiMessageChunk } from './use-chat-chunk.ts';

interface ShownCall {
  readonly tool: string;
  state: 'streaming' | 'known' | 'over';
  /** Arguments that the client has, as JSON. */
  args: string;
  asked: boolean;
}

const discarded = { onward: { discarded: true } } as const;
const NOT_RUN = "This call did not run, because the model's answer was interrupted.";

/** The tool calls of one message. Calls of nested agents are included only if they need approval. */
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
    const chunks = this.#known(toolCallId, tool, args, approvalMetadata(event));
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
      // no event announced its start
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

  /** Closes the calls of an ended step that were still streaming: the model never finished them. */
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
        errorText: NOT_RUN,
        toolMetadata: discarded,
      });
    }
    return chunks;
  }

  /**
   * Announces a call once, and again if an approver changed its arguments. The client treats each as the input of the
   * call.
   */
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

/** Returns the most helpful text: the tool's own message, else the error. */
const errorTextOf = ({ error, result }: EventOf<'ToolCallCompleted'>): string =>
  typeof result === 'string' && !result.startsWith('Error: ')
    ? result
    : (error ?? 'The call failed.');
