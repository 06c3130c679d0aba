import type { ReactElement } from 'react';
import type { SessionImport } from '../../sessions/imported-session.ts';

/** Renders, in place of the composer, that the session is an imported copy. */
export function ImportedNote({ imported }: { readonly imported: SessionImport }): ReactElement {
  const { sessionId, exportedAt, isRedacted } = imported;
  return (
    <p className="chat-imported" role="note">
      <b>Imported copy, read-only.</b> Exported from session <code>{sessionId}</code> on{' '}
      <time dateTime={exportedAt}>{exportedAt.slice(0, 16).replace('T', ' ')} UTC</time>
      {isRedacted ? ', without secrets' : ', with secrets'}.
    </p>
  );
}
