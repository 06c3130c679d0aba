import type { JsonObject, JsonValue } from '../json.ts';

/** The version of the AG-UI protocol that this module speaks. */
export const AG_UI_VERSION = '1.0';

/** What is on every event: whose event it is, and facts that the protocol has no field for, under `onward`. */
interface EventFields {
  /** The nested agent whose event it is; absent for the agent of the thread. */
  readonly subagentRunId?: string;
  readonly metadata?: JsonObject;
}

/** A question that ended a run: an approval, a question of a tool, or a pause. */
export interface AgUiInterrupt extends EventFields {
  readonly id: string;
  /** `tool_call` for an approval, `input_required` for a question of a tool, `onward:paused` for another pause. */
  readonly reason: string;
  readonly message: string;
  readonly toolCallId?: string;
  /** JSON Schema of the payload of the answer. */
  readonly responseSchema?: JsonObject;
}

export type AgUiOutcome =
  | { readonly type: 'success' }
  | { readonly type: 'interrupt'; readonly interrupts: readonly AgUiInterrupt[] }
  | { readonly type: 'cancelled' };

export interface AgUiUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}

export interface AgUiToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A part of a user message. */
export type AgUiPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image' | 'document';
      readonly source:
        | { readonly type: 'data'; readonly value: string; readonly mimeType: string }
        | { readonly type: 'url'; readonly value: string; readonly mimeType?: string };
    };

/** A message of a snapshot. */
export type AgUiMessage = { readonly id: string } & (
  | { readonly role: 'user'; readonly content: string | readonly AgUiPart[] }
  | {
      readonly role: 'assistant';
      readonly content?: string;
      readonly toolCalls?: readonly AgUiToolCall[];
    }
  | { readonly role: 'reasoning'; readonly content: string }
  | { readonly role: 'tool'; readonly content: string; readonly toolCallId: string }
);

interface ById {
  readonly messageId: string;
}

interface OfCall {
  readonly toolCallId: string;
}

/** An event of the AG-UI protocol, version 1.0, that this module writes. */
export type AgUiEvent = EventFields &
  (
    | {
        readonly type: 'RUN_STARTED';
        readonly threadId: string;
        readonly runId: string;
        readonly protocolVersion: string;
      }
    | {
        readonly type: 'RUN_FINISHED';
        readonly threadId: string;
        readonly runId: string;
        readonly outcome: AgUiOutcome;
        readonly result?: JsonObject;
        readonly usage?: readonly AgUiUsage[];
      }
    | {
        readonly type: 'RUN_ERROR';
        readonly message: string;
        readonly code: string;
        readonly usage?: readonly AgUiUsage[];
      }
    | { readonly type: 'STEP_STARTED' | 'STEP_FINISHED'; readonly stepName: string }
    | ({ readonly type: 'TEXT_MESSAGE_START'; readonly role: 'assistant' } & ById)
    | ({ readonly type: 'TEXT_MESSAGE_CONTENT'; readonly delta: string } & ById)
    | ({ readonly type: 'TEXT_MESSAGE_END' } & ById)
    | ({ readonly type: 'REASONING_START' | 'REASONING_END' | 'REASONING_MESSAGE_END' } & ById)
    | ({ readonly type: 'REASONING_MESSAGE_START'; readonly role: 'reasoning' } & ById)
    | ({ readonly type: 'REASONING_MESSAGE_CONTENT'; readonly delta: string } & ById)
    | ({
        readonly type: 'TOOL_CALL_START';
        readonly toolCallName: string;
        readonly parentMessageId: string;
      } & OfCall)
    | ({ readonly type: 'TOOL_CALL_ARGS'; readonly delta: string } & OfCall)
    | ({ readonly type: 'TOOL_CALL_END' } & OfCall)
    | ({
        readonly type: 'TOOL_CALL_RESULT';
        readonly role: 'tool';
        readonly content: string;
      } & ById &
        OfCall)
    | {
        readonly type: 'SUBAGENT_STARTED';
        readonly name: string;
        readonly parentSubagentRunId?: string;
        readonly parentToolCallId?: string;
      }
    | {
        readonly type: 'SUBAGENT_FINISHED';
        readonly outcome: { readonly type: 'success' | 'suspended' };
      }
    | { readonly type: 'SUBAGENT_ERROR'; readonly message: string; readonly code: string }
    | { readonly type: 'STATE_SNAPSHOT'; readonly snapshot: JsonObject }
    | {
        readonly type: 'STATE_DELTA';
        readonly delta: readonly {
          readonly op: 'replace';
          readonly path: string;
          readonly value: JsonValue;
        }[];
      }
    | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly AgUiMessage[] }
    | { readonly type: 'CUSTOM'; readonly name: string; readonly value: JsonValue }
  );
