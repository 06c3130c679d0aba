import {
  memo,
  useEffect,
  useMemo,
  useRef,
  useState,
  type MemoExoticComponent,
  type ReactElement,
  type RefObject,
} from 'react';
import type { ServerInfo } from '../server/api.ts';
import { EmptyState } from './empty-state.tsx';
import { Glyph } from './glyphs.tsx';
import { groupsOf, withOpen, type OpenSession } from './session-pages.ts';
import { SessionRow } from './session-row.tsx';
import type { Sessions } from './use-sessions.ts';

export interface SessionListProps {
  readonly sessions: Sessions;
  readonly typed: string;
  readonly onType: (text: string) => void;
  readonly openId: string | null;
  /** Facts of the open session; null while the list knows it best. */
  readonly open: OpenSession | null;
  readonly info: ServerInfo | null;
  /** Retries a session that gave up. */
  readonly onRetry: (sessionId: string) => void;
  /** Whether the server responds. */
  readonly isOnline: boolean;
  readonly searchRef: RefObject<HTMLInputElement | null>;
}

export const SessionList: MemoExoticComponent<(props: SessionListProps) => ReactElement> = memo(
  (props: SessionListProps): ReactElement => {
    const { sessions, typed, onType, info, searchRef } = props;
    return (
      <nav className="list" aria-label="Sessions">
        <div className="list-tools">
          <div role="search" className="search">
            <Glyph name="search" size={14} />
            <input
              ref={searchRef}
              type="search"
              placeholder="Search sessions"
              aria-label="Search sessions"
              aria-keyshortcuts="/"
              value={typed}
              onChange={(event) => onType(event.target.value)}
              onKeyDown={(event) => {
                if (event.key !== 'Escape') return;
                onType('');
                event.currentTarget.blur();
              }}
            />
            {typed === '' ? (
              <kbd aria-hidden="true">/</kbd>
            ) : (
              <button
                type="button"
                className="button button-icon button-ghost"
                aria-label="Clear"
                onClick={() => {
                  onType('');
                  searchRef.current?.focus();
                }}
              >
                <Glyph name="close" size={11} />
              </button>
            )}
          </div>
          <a
            className="button button-icon"
            href="#/new"
            aria-label="New session"
            aria-keyshortcuts="N"
            title="New session (N)"
          >
            <Glyph name="plus" size={14} />
          </a>
        </div>
        <Rows {...props} sessions={sessions} />
        {info && <Foot info={info} isOnline={props.isOnline} />}
      </nav>
    );
  },
);

function Rows({ sessions, typed, onType, openId, open, onRetry }: SessionListProps): ReactElement {
  const { hasMore, loadMore } = sessions;
  const now = useNow();
  const groups = useMemo(
    () => groupsOf(withOpen(sessions.sessions ?? [], open), now),
    [sessions.sessions, open, now],
  );
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!hasMore || !end.current) return;
    const seen = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && loadMore(),
      { rootMargin: '400px' },
    );
    seen.observe(end.current);
    return () => seen.disconnect();
  }, [hasMore, loadMore]);

  const isAnswered = sessions.sessions !== null;
  // a search may have to read further before it finds the first
  if (isAnswered && groups.length === 0 && !hasMore)
    return (
      <div className="list-rows list-none">
        {sessions.search === '' ? (
          <>
            <p className="muted">Sessions appear here, each with the reason for its status.</p>
            <a className="button list-begin" href="#/new">
              New session
            </a>
          </>
        ) : (
          <EmptyState
            glyph="search"
            title={`Nothing matches “${typed.trim() || sessions.search}”`}
            action={
              <button type="button" className="button" onClick={() => onType('')}>
                Clear search
              </button>
            }
          >
            <p>Titles, messages and tool names are searched.</p>
          </EmptyState>
        )}
      </div>
    );
  return (
    <div className="list-rows" aria-busy={!isAnswered}>
      {groups.map(({ title, sessions: members }) => (
        <section key={title}>
          <h2>{title}</h2>
          <ul>
            {members.map((session) => (
              <SessionRow
                key={session.id}
                session={session}
                isOpen={session.id === openId}
                now={now}
                onRetry={onRetry}
              />
            ))}
          </ul>
        </section>
      ))}
      {hasMore && (
        <div ref={end} className="list-more">
          <button type="button" className="button button-ghost button-small" onClick={loadMore}>
            {sessions.search === '' ? 'Earlier sessions' : 'Search further'}
          </button>
        </div>
      )}
    </div>
  );
}

/** Returns model, store and address; a demo model is named as one. */
function Foot({
  info,
  isOnline,
}: {
  readonly info: ServerInfo;
  readonly isOnline: boolean;
}): ReactElement {
  const models = [...new Set(info.agents.map(({ model }) => model))];
  // the info dialog shows the whole path of the store
  const store = info.store?.split(' · ')[0];
  const parts = [models.length > 2 ? `${models.length} models` : models.join(', '), store];
  return (
    <footer className="list-foot">
      <span className="list-dot" data-online={isOnline} />
      <span className="visually-hidden">{isOnline ? 'Connected.' : 'Not connected.'}</span>
      {parts.map((part) => part && <span key={part}>{part}</span>)}
      <span className="mono">{location.host}</span>
    </footer>
  );
}

/** Renders again regularly, because ages grow. */
function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
