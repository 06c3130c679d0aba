import type { ReactElement, ReactNode } from 'react';
import { Glyph, type GlyphName } from './glyphs.tsx';

export interface EmptyStateProps {
  readonly glyph: GlyphName;
  readonly title: string;
  /** What is true and what is safe. */
  readonly children: ReactNode;
  /** One action. */
  readonly action?: ReactElement;
}

/** Renders a placeholder for missing content. */
export function EmptyState({ glyph, title, children, action }: EmptyStateProps): ReactElement {
  return (
    <div className="empty">
      <Glyph name={glyph} size={20} />
      <h2>{title}</h2>
      <div className="empty-text">{children}</div>
      {action}
    </div>
  );
}

/** Renders "not found". Sessions of other owners and deleted ones look the same, on purpose. */
export function NotFound(): ReactElement {
  return (
    <EmptyState
      glyph="cancelled"
      title="Session not found"
      action={
        <a className="button" href="#/">
          All sessions
        </a>
      }
    >
      <p>It was deleted, or it belongs to someone else.</p>
      <code className="muted">session_not_found</code>
    </EmptyState>
  );
}

interface Retryable {
  readonly onRetry: () => void;
}

function RetryButton({ onRetry }: Retryable): ReactElement {
  return (
    <button type="button" className="button" onClick={onRetry}>
      Try again
    </button>
  );
}

export function ServerUnreachable({ onRetry }: Retryable): ReactElement {
  return (
    <EmptyState
      glyph="failed"
      title="The server does not respond"
      action={<RetryButton onRetry={onRetry} />}
    >
      <p>
        Restart it with <code>npx onward dev</code>. Open runs are recovered from the store when it
        is back.
      </p>
    </EmptyState>
  );
}

export function NoSteps(): ReactElement {
  return (
    <EmptyState glyph="trace" title="No steps yet">
      <p>Send a message to see the first decision.</p>
    </EmptyState>
  );
}

export function NoNestedTrace({
  message,
  href,
}: {
  readonly message: string;
  readonly href: string;
}): ReactElement {
  return (
    <EmptyState
      glyph="trace"
      title="This agent's trace cannot be shown"
      action={
        <a className="button" href={href}>
          Back to the run
        </a>
      }
    >
      <p>{message}</p>
    </EmptyState>
  );
}

export function Problem({
  message,
  code,
  onRetry,
}: Retryable & { readonly message: string; readonly code: string }): ReactElement {
  return (
    <EmptyState
      glyph="failed"
      title="This could not be read"
      action={<RetryButton onRetry={onRetry} />}
    >
      <p>{message}</p>
      <code className="muted">{code}</code>
    </EmptyState>
  );
}
