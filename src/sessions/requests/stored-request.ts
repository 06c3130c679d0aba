import type { MessageJSON } from '../../messages/message.ts';

/**
 * What rebuilds the request of a model call. It names parts by their large values and messages by their positions in
 * the store, so that its size does not depend on the length of the conversation.
 */
export interface StoredRequest {
  /** Name of a large value: a {@link RequestFrame}. */
  readonly frame: string;
  /** Position of the first loaded message that is not from before the loaded part; absent: 0. */
  readonly from?: number;
  /** Position behind the last message of the conversation. */
  readonly to: number;
  /**
   * Number of compactions that the model's view had; absent if the model was sent the messages unchanged, also those
   * that a guard has blocked.
   */
  readonly compactions?: number;
  /** The messages in parts of the model's view and others; absent if the request had the view unchanged. */
  readonly changes?: StoredChanges;
}

/** What surrounds the messages of a request, the same in most steps. Names are those of large values. */
export interface RequestFrame {
  readonly system: string | null;
  /** Name of a list of names, one for each schema. */
  readonly tools: string | null;
  /** The other fields of the request. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/**
 * A range of the model's view, a message, or the name of one that is stored as a large value. Lists of changes have at
 * most {@link CHANGES_TOGETHER} entries; `before` names large values with those before them.
 */
export type StoredChange = readonly [from: number, to: number] | MessageJSON | string;

export interface StoredChanges {
  readonly before?: readonly string[];
  readonly last: readonly StoredChange[];
}

/** A request and the step that it belongs to. The state keeps it until the step ends. */
export interface StepRequest {
  readonly step: string;
  readonly request: StoredRequest;
}

export const CHANGES_TOGETHER = 64;
