import type { BroadcastStatus } from '../../agent/agent-status.ts';
import type { Remedy } from '../../continuation/evaluation.ts';
import type { WireExplanation } from '../envelope.ts';
import type { StopReason } from '../../continuation/stop-reason.ts';
import type { JsonObject } from '../../json.ts';
import type { PendingApproval, PendingInput } from '../../events/agent-event.ts';
import type { JsonSchema } from '../../tools/schema.ts';

/** Why a run stopped or paused, and how to continue it: AI SDK has no word for it. */
export type OnwardStop = {
  readonly status: BroadcastStatus;
  readonly stop_reason: StopReason | null;
  readonly message: string;
  readonly resolved_by: string | null;
  readonly remedy: Remedy | null;
  readonly step_count: number;
  /** The full explanation. Absent from earlier releases. */
  readonly explanation?: WireExplanation;
};

export type OnwardStatus = { readonly status: BroadcastStatus; readonly step_count: number };

/** A failed model call that will be retried. */
export type OnwardRetry = {
  readonly step: number;
  readonly attempt: number;
  readonly wait_ms: number;
  readonly message: string;
};

/**
 * The worker of the run stopped answering, so that the run waits for another one (`lost`), or it has a worker again
 * (`found`).
 */
export type OnwardWorker = { readonly status: 'lost' | 'found' };

/** What a running call reports. */
export type OnwardProgress = {
  readonly tool_call_id: string;
  readonly message?: string;
  readonly progress?: number;
  readonly total?: number;
};

/** A question of a tool. Answer it with `POST …/{chat id}/inputs` while its status is `waiting`. */
export type OnwardInput = {
  readonly status: 'waiting' | 'closed';
  readonly input_id: string;
  readonly tool_call_id: string;
  readonly tool: string;
  readonly key: string;
  readonly execution_id: string;
  readonly message: string;
  /** JSON Schema of the form; absent if `url` is set, and once the question is closed. */
  readonly schema?: JsonSchema;
  /** Address to open. It comes from the tool, so show where it leads before it is opened. */
  readonly url?: string;
};

/** Returns the part of a question that waits. A part with the same id replaces it. */
export const inputPart = (
  question: Omit<PendingInput, 'path'>,
): { type: 'data-onward-input'; id: string; data: OnwardInput } => {
  const { inputId, callId, tool, key, executionId, message, schema, url } = question;
  return {
    type: 'data-onward-input',
    id: `onward-input:${inputId}`,
    data: {
      status: 'waiting',
      input_id: inputId,
      tool_call_id: callId,
      tool,
      key,
      execution_id: executionId,
      message,
      ...(schema && { schema }),
      ...(url !== undefined && { url }),
    },
  };
};

/**
 * Data parts for `useChat<UIMessage<OnwardMetadata, OnwardDataParts>>()`. Status, retry, worker and progress reach only
 * `onData`.
 */
export type OnwardDataParts = {
  'onward-stop': OnwardStop;
  'onward-input': OnwardInput;
  'onward-status': OnwardStatus;
  'onward-retry': OnwardRetry;
  'onward-worker': OnwardWorker;
  'onward-progress': OnwardProgress;
};

/** On every assistant message; all but the first come when the run stops or pauses. */
export type OnwardMetadata = {
  readonly executionId: string;
  readonly status?: BroadcastStatus;
  readonly stopReason?: StopReason | null;
  readonly stepCount?: number;
  readonly usage?: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly totalTokens: number;
  };
  readonly cost?: number | null;
};

/** `onward: { discarded: true }` on a text or call of a failed model call. */
export type OnwardMark = { readonly onward: { readonly discarded: true } };

/**
 * `onward: { argsHash, hidden: ['/password'] }` on a call that needs approval: the hash of its arguments, and JSON
 * pointers to hidden values in its input.
 */
export type OnwardAsked = { onward: { argsHash?: string; hidden?: string[] } };

/** Returns the metadata of a call that needs approval; undefined if there is none. */
export const approvalMetadata = ({
  argsHash,
  hidden,
}: Pick<PendingApproval, 'argsHash' | 'hidden'>): OnwardAsked | undefined =>
  argsHash === undefined && hidden === undefined
    ? undefined
    : {
        onward: {
          ...(argsHash !== undefined && { argsHash }),
          ...(hidden && { hidden: [...hidden] }),
        },
      };

type DataChunk = {
  [K in keyof OnwardDataParts]: {
    readonly type: `data-${K}`;
    readonly id?: string;
    readonly data: OnwardDataParts[K];
    readonly transient?: boolean;
  };
}[keyof OnwardDataParts];

/** The chunks of the AI SDK's UI message stream, version 1, that this module writes. */
export type UiMessageChunk =
  | {
      readonly type: 'start';
      readonly messageId: string;
      readonly messageMetadata: OnwardMetadata;
    }
  | { readonly type: 'start-step' }
  | { readonly type: 'finish-step' }
  | { readonly type: 'text-start' | 'reasoning-start'; readonly id: string }
  | {
      readonly type: 'text-delta' | 'reasoning-delta';
      readonly id: string;
      readonly delta: string;
    }
  | {
      readonly type: 'text-end' | 'reasoning-end';
      readonly id: string;
      readonly providerMetadata?: OnwardMark;
    }
  | {
      readonly type: 'tool-input-start';
      readonly toolCallId: string;
      readonly toolName: string;
    }
  | {
      readonly type: 'tool-input-delta';
      readonly toolCallId: string;
      readonly inputTextDelta: string;
    }
  | {
      readonly type: 'tool-input-available';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: JsonObject;
      readonly providerMetadata?: OnwardAsked;
    }
  | {
      readonly type: 'tool-input-error';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: JsonObject | string | null;
      readonly errorText: string;
      readonly toolMetadata?: OnwardMark;
    }
  | {
      readonly type: 'tool-approval-request';
      readonly approvalId: string;
      readonly toolCallId: string;
    }
  | {
      readonly type: 'tool-output-available';
      readonly toolCallId: string;
      readonly output: unknown;
    }
  | {
      readonly type: 'tool-output-error';
      readonly toolCallId: string;
      readonly errorText: string;
    }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | DataChunk
  | { readonly type: 'message-metadata'; readonly messageMetadata: OnwardMetadata }
  | { readonly type: 'finish'; readonly finishReason: UiFinishReason }
  | { readonly type: 'abort'; readonly reason: string }
  | { readonly type: 'error'; readonly errorText: string };

export type UiFinishReason =
  | 'stop'
  | 'length'
  | 'content-filter'
  | 'tool-calls'
  | 'error'
  | 'other';

/**
 * Returns the id of the assistant message. It derives from the user message, because one message shows all steps of
 * the answer.
 */
export const answerIdOf = (userMessageId: string): string => `${userMessageId}_answer`;
