import { useEffect, useState, type ReactElement } from 'react';
import { CutNote, useWhole } from './cut-note.tsx';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface SummaryViewProps {
  readonly contentRef: string;
  /** Whether to load it at once, where something else shows and hides it. Default: on demand. */
  readonly isOpen?: boolean;
}

/** Shows the summary of earlier messages on demand, as plain text: a model wrote it. */
export function SummaryView({ contentRef, isOpen = false }: SummaryViewProps): ReactElement {
  const { labels } = useUi();
  const { whole, status, problem, load } = useWhole(contentRef);
  const [isShown, setShown] = useState(true);
  useEffect(() => {
    if (isOpen && status === 'cut') load?.();
  }, [isOpen, status, load]);
  const isWhole = status === 'whole';
  const text = isWhole && isShown && (
    <div
      {...part('summary')}
      role="group"
      aria-label={labels.summary}
      tabIndex={0}
      style={{ whiteSpace: 'pre-wrap' }}
    >
      {typeof whole === 'string' ? whole : ''}
    </div>
  );
  if (isOpen) return text || <CutNote {...{ status, problem, load }} label={labels.summary} />;
  const hasFailed = status === 'failed';
  const action = isWhole && isShown ? labels.hideSummary : labels.showSummary;
  return (
    <>
      <p {...part('note')} role={hasFailed ? 'alert' : undefined}>
        {hasFailed ? labels.failed(problem) : labels.summary}{' '}
        {load && (
          <button
            type="button"
            {...part('link')}
            aria-disabled={status === 'loading'}
            aria-expanded={isWhole && isShown}
            onClick={isWhole ? () => setShown(!isShown) : load}
          >
            {status === 'loading' ? labels.loading : action}
          </button>
        )}
      </p>
      {text}
    </>
  );
}
