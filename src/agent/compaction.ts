import type { Usage } from '../inference/usage.ts';

/** What is left out of the model's view of a conversation. The messages themselves stay as they are. */
export interface Compaction {
  readonly id: string;
  /** `tool_results`: results of tools become short notes. `summary`: messages become one note. */
  readonly kind: 'tool_results' | 'summary';
  /** Position of the first message that it covers in this agent's conversation. */
  readonly fromPosition: number;
  /** Position behind the last message that it covers. */
  readonly toPosition: number;
  /** Text of a summary, which also covers what earlier summaries did. */
  readonly text?: string;
  /** Estimated size of the model's view. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Model that wrote the summary. */
  readonly model?: string;
  /** What the model call for a summary used. */
  readonly usage: Usage;
  /** Null if the price is unknown. */
  readonly cost: number | null;
  readonly reason: 'threshold' | 'context_length';
  readonly at: string;
}

export const noCompactions: readonly Compaction[] = Object.freeze([]);

/** Returns the newest summary, which stands for all messages before its end; undefined if there is none. */
export const newestSummary = (compactions: readonly Compaction[]): Compaction | undefined =>
  compactions.findLast(({ kind }) => kind === 'summary');

/** Name of the tool that reads results which the model is no longer sent. */
export const READ_RESULT = 'read_earlier_result';
