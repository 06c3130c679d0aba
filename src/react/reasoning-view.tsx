import { useState, type ReactElement } from 'react';
import { Glyph } from './glyph.tsx';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface ReasoningViewProps {
  readonly text: string;
  /** Whether more text may arrive. */
  readonly isStreaming: boolean;
}

/** Renders the model's reasoning: folded, and rendered only while it is open. */
export function ReasoningView({ text, isStreaming }: ReasoningViewProps): ReactElement {
  const { labels } = useUi();
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      {...part('reasoning')}
      data-streaming={isStreaming || undefined}
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <Glyph name="chevron" />
        {labels.reasoning}
      </summary>
      {isOpen && (
        <div
          {...part('reasoning-text')}
          role="group"
          aria-label={labels.reasoning}
          tabIndex={0}
          style={{ whiteSpace: 'pre-wrap' }}
        >
          {text}
        </div>
      )}
    </details>
  );
}
