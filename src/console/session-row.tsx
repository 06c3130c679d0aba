import { memo, type MemoExoticComponent, type ReactElement } from 'react';
import type { SessionSummary } from '../server/api.ts';
import { statusGlyphs } from '../react/glyph.tsx';
import { Glyph } from './glyphs.tsx';
import { chatHref } from './route.ts';
import { timeText } from './session-pages.ts';

export interface SessionRowProps {
  readonly session: SessionSummary;
  readonly isOpen: boolean;
  readonly now: Date;
  readonly onRetry: (sessionId: string) => void;
}

/** Renders two lines: title and time, then the reason for the status. */
export const SessionRow: MemoExoticComponent<(props: SessionRowProps) => ReactElement> = memo(
  ({ session, isOpen, now, onRetry }: SessionRowProps): ReactElement => {
    const { id, title, status, phase, reason, updatedAt, error } = session;
    return (
      <li data-phase={phase}>
        <a
          className="row"
          href={chatHref(id)}
          data-status={status}
          aria-current={isOpen ? 'page' : undefined}
        >
          <Glyph name={statusGlyphs[status]} size={14} />
          <span className="row-title">{title ?? 'Untitled'}</span>
          <time dateTime={updatedAt}>{timeText(session, now)}</time>
          <span
            className="row-reason"
            title={phase === 'parked' ? (error ?? undefined) : undefined}
          >
            {reason}
          </span>
        </a>
        {phase === 'parked' && (
          <button
            type="button"
            className="button button-small row-retry"
            aria-label={`Retry ${title ?? 'Untitled'}`}
            onClick={() => onRetry(id)}
          >
            Retry
          </button>
        )}
      </li>
    );
  },
);
