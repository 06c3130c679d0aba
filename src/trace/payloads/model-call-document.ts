import type { RequestStatus } from '../../sessions/requests/read-model-call.ts';
import type { ErrorRecord } from '../../errors/error-record.ts';
import type { MessageRole } from '../../messages/message-role.ts';
import type { FileFacts } from '../../file-facts.ts';
import type { PayloadText } from './payload-text.ts';

/** How the model was called in one step, redacted: the document of the console and of `onward explain --request`. */
export interface ModelCallDocument {
  readonly sessionId: string;
  /** Execution of the step; null if the step does not exist. */
  readonly executionId: string | null;
  readonly step: number;
  /** Whether the request can be rebuilt, and why not. */
  readonly status: RequestStatus;
  /** Calls of the model from the first one after an answer, this one last. */
  readonly attempts: readonly ModelAttempt[];
  /** Null unless `status` is `stored`. */
  readonly request: RequestDocument | null;
  /** Null if the step has no answer, as after a failed call. */
  readonly response: ResponseDocument | null;
}

export interface ModelAttempt {
  readonly step: number;
  /** Null if the agent has one model only. */
  readonly model: string | null;
  readonly requestId: string | null;
  /** Null if the call did not fail. */
  readonly error: Pick<ErrorRecord, 'code' | 'message' | 'status'> | null;
  readonly durationMs: number;
}

/** How a part compares with the call before; `first` without one that can be compared. */
export type PartChange = 'unchanged' | 'changed' | 'first';

export interface RequestDocument {
  /** Estimated tokens. */
  readonly tokens: number;
  /** The call before, with which it is compared; null for the first one. */
  readonly since: { readonly step: number; readonly executionId: string } | null;
  readonly system: RequestPart | null;
  readonly tools:
    | (RequestPart & { readonly names: readonly string[]; readonly count: number })
    | null;
  readonly toolChoice: string;
  /** The response format; null for text. */
  readonly format: PayloadText | null;
  readonly messages: RequestMessages;
}

export interface RequestPart {
  readonly change: PartChange;
  /** Estimated tokens. */
  readonly tokens: number;
  readonly content: PayloadText;
}

export interface RequestMessages {
  /** Number of messages of the request. */
  readonly count: number;
  /** Number of those that the call before did not have. */
  readonly added: number;
  /** In order: all of a page, or only new ones and what stands for others. */
  readonly items: readonly RequestMessage[];
  /** Index from which to read on; null if these are the last. */
  readonly next: number | null;
}

export interface RequestMessage {
  /** Index in the request. */
  readonly index: number;
  readonly role: MessageRole;
  readonly isNew: boolean;
  /** Step that added it, of a new message that is not the user's. */
  readonly step: number | null;
  readonly tokens: number;
  /** Name of the tool, of a result. */
  readonly name: string | null;
  readonly callId: string | null;
  readonly content: PayloadText | null;
  readonly reasoning: PayloadText | null;
  readonly calls: readonly PayloadCall[];
  readonly files: readonly FileFacts[];
  /** Set if it stands for messages that the model is no longer sent. */
  readonly compaction: RequestCompaction | null;
  /** Whether it is a note in place of a long result. */
  readonly isLeftOut: boolean;
}

export interface PayloadCall {
  readonly id: string;
  readonly name: string;
  readonly args: PayloadText;
}

export interface RequestCompaction {
  readonly id: string;
  /** Number of messages that the summary covers. */
  readonly messages: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly model: string | null;
  readonly cost: number | null;
  readonly at: string;
}

export interface ResponseDocument {
  readonly content: PayloadText | null;
  readonly reasoning: PayloadText | null;
  readonly calls: readonly PayloadCall[];
  readonly files: readonly FileFacts[];
  readonly finishReason: string | null;
  /** Whether the answer was interrupted. */
  readonly isCut: boolean;
}
