import { useEffect, type ReactElement } from 'react';
import { CutNote, useWhole } from './cut-note.tsx';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface SummaryViewProps {
  readonly contentRef: string;
  /** Whether to load it at once. Default: on demand. */
  readonly isOpen?: boolean;
}

/** Shows the summary of earlier messages on demand, as plain text: a model wrote it. */
export function SummaryView({ contentRef, isOpen = false }: SummaryViewProps): ReactElement {
  const { labels } = useUi();
  const { whole, status, problem, load } = useWhole(contentRef);
  useEffect(() => {
    if (isOpen && status === 'cut') load?.();
  }, [isOpen, status, load]);
  if (status !== 'whole') return <CutNote {...{ status, problem, load }} label={labels.summary} />;
  return (
    <div {...part('summary')} style={{ whiteSpace: 'pre-wrap' }}>
      {typeof whole === 'string' ? whole : ''}
    </div>
  );
}
