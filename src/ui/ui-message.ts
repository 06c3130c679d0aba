import type { TruncatedValue } from '../broadcasting/envelope.ts';
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
  | 'continuation';

export interface UiToolCall {
  readonly id: string;
  readonly name: string;
  /** Null where only the summary was sent; text while the arguments are still being made. */
  readonly args: JsonValue | TruncatedValue | null;
  readonly args_summary: string;
  /** The arguments are still being made: `args` is the text so far. */
  readonly partial?: true;
}

export interface UiContinuation {
  readonly should_continue: boolean;
  readonly stop_reason: StopReason | null;
  readonly resolved_by: string | null;
  readonly reason: string;
  readonly remedy: Remedy | null;
}

export interface UiMetadata {
  readonly tool_calls?: readonly UiToolCall[];
  readonly tool_call_id?: string;
  readonly tool_name?: string;
  readonly tool_result?: JsonValue | TruncatedValue;
  readonly tool_error?: string;
  readonly tool_duration_ms?: number;
  readonly status_type?: UiStatusType;
  readonly continuation?: UiContinuation;
  /** The content is the beginning of a longer text, which can be fetched under this name. */
  readonly content_ref?: string;
  /** How the model came to it, where the server sends reasoning. */
  readonly reasoning?: string;
  /** Still being made: the finished message takes its place. */
  readonly streaming?: true;
  /** Written here and not yet seen by the server. */
  readonly pending?: true;
  /** On what an agent that runs as a tool is doing. */
  readonly agent_id?: string;
  readonly parent_agent_id?: string;
}

/** One line of a conversation on a screen. */
export interface UiMessage {
  readonly id: string;
  readonly role: UiRole;
  readonly content: string;
  readonly timestamp: string;
  readonly metadata: UiMetadata;
}
