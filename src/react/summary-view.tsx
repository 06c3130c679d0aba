import type { ReactElement } from 'react';
import { CutNote, useWhole } from './cut-note.tsx';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

/** Shows the summary of earlier messages on demand, as plain text: a model wrote it. */
export function SummaryView({ contentRef }: { readonly contentRef: string }): ReactElement {
  const { labels } = useUi();
  const { whole, status, problem, load } = useWhole(contentRef);
  if (status !== 'whole') return <CutNote {...{ status, problem, load }} label={labels.summary} />;
  return (
    <div {...part('summary')} style={{ whiteSpace: 'pre-wrap' }}>
      {typeof whole === 'string' ? whole : ''}
    </div>
  );
}
