import type { ReactElement } from 'react';
import type { SessionAction } from '../ui/sources/session-actions.ts';
import { Glyph } from './glyph.tsx';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface ProblemProps {
  readonly action: SessionAction;
  /** Replaces the error's message. */
  readonly text?: string;
  readonly onRetry?: (actionId: string) => unknown;
  readonly onDismiss?: (actionId: string) => void;
}

/** Renders a failed action. It stays until the user dismisses or retries it. */
export function Problem({ action, text, onRetry, onDismiss }: ProblemProps): ReactElement {
  const { labels } = useUi();
  return (
    <p {...part('problem')} role="alert">
      <Glyph name="failed" />
      <span>{text ?? labels.failed(action.error?.message ?? '')}</span>
      {onRetry && (
        <button type="button" {...part('link')} onClick={() => onRetry(action.id)}>
          {labels.retry}
        </button>
      )}
      {onDismiss && (
        <button type="button" {...part('link')} onClick={() => onDismiss(action.id)}>
          {labels.dismiss}
        </button>
      )}
    </p>
  );
}
