import type { TruncatedValue, WireFile } from '../broadcasting/envelope.ts';
import type { Remedy } from '../continuation/evaluation.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import type { JsonValue } from '../json.ts';

export type UiRole = 'user' | 'assistant' | 'tool' | 'status';

export type UiStatusType =
  | 'thinking'
  | 'tool_call'
  | 'tool_result'
  | 'error'
  | 'info'
  | 'waiting'
  | 'continuation';

export interface UiToolCall {
  readonly id: string;
  readonly name: string;
  /** Arguments; null if only the summary was sent, text while they stream. */
  readonly args: JsonValue | TruncatedValue | null;
  readonly args_summary: string;
  /** Whether the arguments still stream: `args` is the text so far. */
  readonly partial?: true;
}

export interface UiContinuation {
  readonly should_continue: boolean;
  readonly stop_reason: StopReason | null;
  readonly resolved_by: string | null;
  readonly reason: string;
  readonly remedy: Remedy | null;
}

/** An image or a file of a tool result. */
export interface UiToolFile extends WireFile {
  /** Base64 of a small PNG, JPEG, GIF or WebP image, in messages that the server stores. */
  readonly data?: string;
}

/** What a compaction left out of the messages that the model is sent. */
export interface UiCompaction {
  readonly kind: 'tool_results' | 'summary';
  /** Number of messages that it covers. */
  readonly messages: number;
  readonly tokens_before: number;
  readonly tokens_after: number;
}

export interface UiMetadata {
  readonly tool_calls?: readonly UiToolCall[];
  readonly tool_call_id?: string;
  readonly tool_name?: string;
  readonly tool_result?: JsonValue | TruncatedValue;
  /** The images and files of the result; absent if it has none. */
  readonly tool_files?: readonly UiToolFile[];
  readonly tool_error?: string;
  /** `denied`, `aborted`, `blocked`, `timeout`, or the code of the error. Absent if the server did not send it. */
  readonly tool_error_code?: string;
  readonly tool_duration_ms?: number;
  readonly status_type?: UiStatusType;
  readonly continuation?: UiContinuation;
  /** On the status row of a compaction; `content_ref` is the ref of its summary. */
  readonly compaction?: UiCompaction;
  /** Ref of the whole text, if the content is only its beginning. */
  readonly content_ref?: string;
  /** The model's reasoning, if the server sends it. */
  readonly reasoning?: string;
  /** Whether the message still streams: the finished message replaces it. */
  readonly streaming?: true;
  /** Whether the user wrote it here and the server has not confirmed it. */
  readonly pending?: true;
  /** Agent id on the status line of a nested agent. */
  readonly agent_id?: string;
  readonly parent_agent_id?: string;
}

/** One row of a conversation. */
export interface UiMessage {
  readonly id: string;
  readonly role: UiRole;
  readonly content: string;
  readonly timestamp: string;
  readonly metadata: UiMetadata;
}
