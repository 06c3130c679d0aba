import { useState, type ReactElement } from 'react';
import { countText } from '../../number-text.ts';
import type { BulkAction, ListedSession } from '../api-client.ts';
import { Glyph } from '../glyphs.tsx';
import { pages } from '../pages.ts';
import { pageHref } from '../route.ts';

export interface BulkBarProps {
  readonly selected: readonly ListedSession[];
  readonly canOpen: (session: ListedSession) => boolean;
  /** Resolves with what went wrong, in words; null if nothing did. */
  readonly onAction: (action: BulkAction, ids: readonly string[]) => Promise<string | null>;
  readonly onClose: () => void;
}

/** Renders actions on the selected sessions, each with the number that it applies to. */
export function BulkBar({ selected, canOpen, onAction, onClose }: BulkBarProps): ReactElement {
  const [isAsking, setAsking] = useState(false);
  const [isSending, setSending] = useState(false);
  const [said, setSaid] = useState<string | null>(null);
  const idsOf = (fits: (session: ListedSession) => boolean): readonly string[] =>
    selected.filter(fits).map(({ id }) => id);
  const retriable = idsOf(({ phase }) => phase === 'parked');
  const stoppable = idsOf(({ phase }) => phase !== 'idle');
  const act = async (action: BulkAction, ids: readonly string[]): Promise<void> => {
    setSending(true);
    setSaid(await onAction(action, ids));
    setSending(false);
    setAsking(false);
  };
  const [first, second] = selected;
  const canCompare =
    pages.compare && selected.length === 2 && first && second && [first, second].every(canOpen);
  const button = (action: BulkAction, label: string, ids: readonly string[]): ReactElement => (
    <button
      type="button"
      className="button button-small"
      disabled={ids.length === 0 || isSending}
      onClick={() => void act(action, ids)}
    >
      {label} <span className="muted">{countText(ids.length)}</span>
    </button>
  );
  return (
    <div className="bulk-bar" role="group" aria-label="Selected sessions">
      <b role="status">{countText(selected.length)} selected</b>
      {isAsking ? (
        <>
          <span>Delete {countText(selected.length)} with all their data?</span>
          <button
            type="button"
            className="button button-small button-danger"
            disabled={isSending}
            onClick={() =>
              void act(
                'delete',
                idsOf(() => true),
              )
            }
          >
            Delete
          </button>
          <button
            type="button"
            className="button button-small"
            autoFocus
            onClick={() => setAsking(false)}
          >
            Keep
          </button>
        </>
      ) : (
        <>
          {button('retry', 'Retry', retriable)}
          {button('stop', 'Stop', stoppable)}
          {pages.compare && (
            <a
              className="button button-small"
              aria-disabled={!canCompare}
              {...(canCompare && {
                href: pageHref('compare', { query: { a: first.id, b: second.id } }),
              })}
            >
              Compare
            </a>
          )}
          <button
            type="button"
            className="button button-small button-danger"
            disabled={isSending}
            onClick={() => setAsking(true)}
          >
            Delete…
          </button>
        </>
      )}
      {said !== null && (
        <span className="bulk-said" role="alert">
          {said}
        </span>
      )}
      <button
        type="button"
        className="button button-icon button-ghost button-small"
        aria-label="Clear selection"
        onClick={onClose}
      >
        <Glyph name="close" size={12} />
      </button>
    </div>
  );
}
