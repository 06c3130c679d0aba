import { compactionText, type ShownCompaction } from '../events/compaction-text.ts';
import type { UiMessage } from './ui-message.ts';

export interface CompactionRowInput extends ShownCompaction {
  readonly id: string;
  readonly timestamp: string;
  /** Ref of the text of a summary. */
  readonly summaryRef?: string | undefined;
}

/** Creates the row that says what the model is no longer sent. */
export function compactionRow(input: CompactionRowInput): UiMessage {
  const { id, timestamp, kind, messages, tokensBefore, tokensAfter, summaryRef } = input;
  const text = compactionText(input);
  return {
    id,
    role: 'status',
    content: `${text.charAt(0).toUpperCase()}${text.slice(1)}`,
    timestamp,
    metadata: {
      status_type: 'info',
      compaction: { kind, messages, tokens_before: tokensBefore, tokens_after: tokensAfter },
      ...(summaryRef !== undefined && { content_ref: summaryRef }),
    },
  };
}
