import { useState, type ReactElement } from 'react';
import type { TruncatedValue } from '../broadcasting/envelope.ts';
import type { JsonValue } from '../json.ts';
import { visibleLines } from '../visible-text.ts';
import { CutNote, useWhole } from './cut-note.tsx';
import { isTruncated } from '../ui/message-list.ts';
import { valueText } from './format.ts';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

const foldedLines = 14;

export interface ValueViewProps {
  readonly value: JsonValue | TruncatedValue;
  /** Label for screen readers. */
  readonly label: string;
}

/**
 * Renders a value as text: JSON indented, long values folded, truncated values with a way to load the whole. Never
 * HTML.
 */
export function ValueView({ value, label }: ValueViewProps): ReactElement {
  return isTruncated(value) ? (
    <CutView cut={value} label={label} />
  ) : (
    <TextView value={value} label={label} />
  );
}

function TextView({
  value,
  label,
}: {
  readonly value: JsonValue;
  readonly label: string;
}): ReactElement {
  const { labels } = useUi();
  const [isWhole, setWhole] = useState(false);
  const text = visibleLines(valueText(value));
  const lines = text.split('\n');
  const isLong = lines.length > foldedLines + 2 && !isWhole;
  return (
    <div {...part('value')}>
      <pre aria-label={label} tabIndex={0} role="group">
        {isLong ? `${lines.slice(0, foldedLines).join('\n')}\n…` : text}
      </pre>
      {isLong && (
        <button type="button" {...part('link')} onClick={() => setWhole(true)}>
          {labels.showLines(lines.length)}
        </button>
      )}
    </div>
  );
}

function CutView({
  cut,
  label,
}: {
  readonly cut: TruncatedValue;
  readonly label: string;
}): ReactElement {
  const { labels } = useUi();
  const { whole, status, problem, load } = useWhole(cut.ref);
  if (whole !== undefined) return <TextView value={whole} label={label} />;
  return (
    <div {...part('value')} data-cut="true">
      <pre aria-label={label} tabIndex={0} role="group">
        {visibleLines(cut.summary)}
      </pre>
      <CutNote {...{ status, problem, load }} label={labels.cut} />
    </div>
  );
}
