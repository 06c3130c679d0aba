import type { BroadcastStatus } from '../../agent/agent-status.ts';
import type { Remedy } from '../../continuation/evaluation.ts';
import type { WireExplanation } from '../envelope.ts';
import type { StopReason } from '../../continuation/stop-reason.ts';
import type { JsonObject } from '../../json.ts';
import type { PendingApproval } from '../../events/agent-event.ts';

/** Why a run stands still, and what would let it continue: AI SDK has no word for it. */
export type OnwardStop = {
  readonly status: BroadcastStatus;
  readonly stop_reason: StopReason | null;
  readonly message: string;
  readonly resolved_by: string | null;
  readonly remedy: Remedy | null;
  readonly step_count: number;
  /** Absent from earlier releases. */
  readonly explanation?: WireExplanation;
};

export type OnwardStatus = { readonly status: BroadcastStatus; readonly step_count: number };

/** A model call failed and will be tried again. */
export type OnwardRetry = {
  readonly step: number;
  readonly attempt: number;
  readonly wait_ms: number;
  readonly message: string;
};

/** For `useChat<UIMessage<OnwardMetadata, OnwardDataParts>>()`; status and retry come to `onData` alone. */
export type OnwardDataParts = {
  'onward-stop': OnwardStop;
  'onward-status': OnwardStatus;
  'onward-retry': OnwardRetry;
};

/** On every assistant message; all but the first come when the run stands still. */
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

/** `onward: { discarded: true }` on a text or call that a failed model call left behind. */
export type OnwardMark = { readonly onward: { readonly discarded: true } };

/**
 * `onward: { argsHash, hidden: ['/password'] }` on a call that waits: what names its arguments, and JSON pointers to
 * what is hidden in its input.
 */
export type OnwardAsked = { onward: { argsHash?: string; hidden?: string[] } };

/** Undefined where there is nothing to say. */
export const askedMark = ({
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

/** What we write of AI SDK's UI message stream, version 1. */
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

/** The answer to a user's message is one message on the screen, however many steps it takes: named after the question. */
export const answerIdOf = (userMessageId: string): string => `${userMessageId}_answer`;
