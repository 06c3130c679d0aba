import type { ErrorRecord } from '../../errors/error-record.ts';
import type { FileFacts } from '../../file-facts.ts';
import type { ApprovalRecord, ToolResultKind } from '../../tools/tool-result.ts';
import type { PayloadText } from './payload-text.ts';

/** The tool calls of one step, redacted and bounded. */
export interface ToolCallsDocument {
  readonly sessionId: string;
  /** Execution of the step; null if the step does not exist. */
  readonly executionId: string | null;
  readonly step: number;
  /** Whether the store has the step. */
  readonly status: 'stored' | 'pruned';
  /** In call order. */
  readonly calls: readonly ToolCallDocument[];
}

export interface ToolCallDocument {
  readonly callId: string;
  readonly tool: string;
  /** `open` while there is no result. */
  readonly kind: ToolResultKind | 'open';
  readonly durationMs: number | null;
  /** The arguments that the call ran with. */
  readonly args: PayloadText;
  /** What an approver changed in the arguments; absent if nothing. */
  readonly edits?: readonly ArgumentEdit[];
  readonly result: PayloadText | null;
  readonly error: Pick<ErrorRecord, 'type' | 'code' | 'message'> | null;
  /** The text that the model saw, if it is not the result. */
  readonly seen: PayloadText | null;
  readonly approval: ApprovalRecord | null;
  /** This call and those that it retries, or that retry it; only this one if there are none. */
  readonly attempts: readonly ToolAttempt[];
  readonly files: readonly FileFacts[];
}

/** A field of the arguments. A value is null if the arguments do not have the field. */
export interface ArgumentEdit {
  /** Path of the field, such as `owner` or `rows.2.name`. */
  readonly field: string;
  readonly proposed: PayloadText | null;
  readonly approved: PayloadText | null;
}

export interface ToolAttempt {
  readonly step: number;
  readonly callId: string;
  readonly kind: ToolResultKind | 'open';
  readonly durationMs: number | null;
  /** Whether its arguments are those of the first attempt. */
  readonly hasSameArgs: boolean;
}
