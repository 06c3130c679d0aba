import type { ReactElement } from 'react';
import { SummaryView } from '../../react/summary-view.tsx';
import type { UiMessage } from '../../ui/ui-message.ts';
import { Glyph } from '../glyphs.tsx';

/** Says what the model is no longer sent, and offers the summary. The messages themselves stay in the chat. */
export function CompactionNote({ message }: { readonly message: UiMessage }): ReactElement {
  const { content, metadata } = message;
  const { content_ref: ref } = metadata;
  return (
    <div className="compaction">
      <p className="status-line" data-kind="info">
        <Glyph name="info" size={14} />
        <span>{content}</span>
      </p>
      {ref !== undefined && <SummaryView contentRef={ref} />}
    </div>
  );
}
