import { useState, type ReactElement } from 'react';
import { Glyph } from '../glyphs.tsx';
import { PageTools } from '../page-tools.tsx';
import type { PageProps } from '../pages.ts';
import { chatHref } from '../route.ts';
import { statusGlyphs } from '../../react/glyph.tsx';
import { timeText } from '../session-pages.ts';
import { useSessions } from '../use-sessions.ts';

/** Renders all sessions as a table. */
export function SessionsPage({ api }: PageProps): ReactElement {
  const { sessions, hasMore, loadMore } = useSessions(api, '');
  const [now] = useState(() => new Date());
  return (
    <section className="page" aria-label="Sessions">
      <PageTools>{sessions && `${sessions.length}${hasMore ? '+' : ''} sessions`}</PageTools>
      <table className="sessions-table" aria-busy={sessions === null}>
        <thead>
          <tr>
            <th scope="col">Session</th>
            <th scope="col">Agent</th>
            <th scope="col">Updated</th>
          </tr>
        </thead>
        <tbody>
          {sessions?.map((session) => (
            <tr key={session.id}>
              <td>
                <Glyph name={statusGlyphs[session.status]} size={14} />{' '}
                <a href={chatHref(session.id)}>{session.title ?? 'Untitled'}</a>
                <p className="muted">{session.reason}</p>
              </td>
              <td>{session.agent}</td>
              <td>{timeText(session, now)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {hasMore && (
        <button type="button" className="button" onClick={loadMore}>
          Earlier sessions
        </button>
      )}
    </section>
  );
}
