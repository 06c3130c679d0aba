import type { ReactElement } from 'react';
import { Glyph } from './glyphs.tsx';

/** Renders a failed action; it stays until the user dismisses it. */
export function NoticeStrip({
  lead,
  message,
  onDismiss,
}: {
  readonly lead: string;
  readonly message: string;
  readonly onDismiss: () => void;
}): ReactElement {
  return (
    <div className="strip strip-bad" role="alert">
      <Glyph name="failed" size={14} />
      <p>
        <strong>{lead}</strong> {message}
      </p>
      <button type="button" className="button button-small" onClick={onDismiss}>
        Dismiss
      </button>
    </div>
  );
}
