import type { TruncatedValue, WireFile } from '../broadcasting/envelope.ts';
import type { GrantAuthority } from '../continuation/grant-allowance.ts';
import type { Grants } from '../continuation/grants.ts';
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
  /** Whether a partial call is complete and waits for the model to finish. */
  readonly written?: true;
}

export interface UiContinuation {
  readonly should_continue: boolean;
  readonly stop_reason: StopReason | null;
  readonly resolved_by: string | null;
  readonly reason: string;
  readonly remedy: Remedy | null;
}

/** An image or a file of a message. */
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

/** Something that happened between messages: a row with one sentence. */
export type UiEvent =
  /** A run stopped; `headline` is the first sentence of its explanation. */
  | { readonly kind: 'stop'; readonly step: number; readonly headline: string }
  /** A stopped run was continued. */
  | {
      readonly kind: 'grant';
      readonly amounts: Grants;
      readonly by: string | null;
      readonly authority: GrantAuthority;
    }
  /** A model failed, and the run continued with another one. */
  | {
      readonly kind: 'fallback';
      readonly step: number;
      readonly from: string;
      readonly to: string;
      readonly code: string;
    }
  /** A model call failed; `will_retry` if the run continued. */
  | {
      readonly kind: 'failed_call';
      readonly step: number;
      readonly attempt: number;
      readonly code: string;
      readonly error: string;
      readonly wait_ms: number;
      readonly will_retry: boolean;
    }
  /** Code of the agent changed what a step sends, such as another model. */
  | {
      readonly kind: 'settings';
      readonly step: number;
      readonly changes: readonly string[];
    }
  /** The session continues from a step of another one. */
  | { readonly kind: 'fork'; readonly session_id: string; readonly step: number };

/** How a call that needed approval was answered. */
export interface UiToolApproval {
  readonly decision: 'approved' | 'edited' | 'denied';
  /** Null if it is not recorded. */
  readonly by: string | null;
  readonly at: string;
  /** Whether a remembered approval answered. */
  readonly remembered?: true;
}

/** Which retry of a failed call it is, and how many are allowed. */
export interface UiToolRetry {
  readonly number: number;
  readonly limit: number | null;
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
  /** From the record: absent while the run is busy, and without an approval. */
  readonly tool_approval?: UiToolApproval;
  /** From the record: absent while the run is busy, and on a first attempt. */
  readonly tool_retry?: UiToolRetry;
  /** The images and files of a user's message; absent if it has none. */
  readonly files?: readonly UiToolFile[];
  /** Number of the step in its execution; from the record. */
  readonly step?: number;
  /** The execution of the row; from the record. */
  readonly execution_id?: string;
  /** What happened, on a status row. */
  readonly event?: UiEvent;
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
