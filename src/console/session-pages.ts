import type { SessionSummary } from '../server/api.ts';
import type { SessionsPage } from './api-client.ts';
import { clockText, dateText, daysBetween } from './calendar.ts';

export type Loaded = SessionsPage;

/**
 * Merges a new first page into the loaded list: rows that should be on it and are not are gone, older ones stay, so
 * that a scrolled list does not become short again.
 */
export function withFirstPage(loaded: Loaded | null, page: SessionsPage): Loaded {
  const last = page.sessions.at(-1);
  if (!loaded || page.cursor === null) return page;
  if (!last) return loaded;
  const fresh = new Set(page.sessions.map(({ id }) => id));
  const older = loaded.sessions.filter(
    ({ id, updatedAt }) => !fresh.has(id) && updatedAt <= last.updatedAt,
  );
  if (older.length === 0) return page;
  return { sessions: [...page.sessions, ...older], cursor: loaded.cursor };
}

export function withNextPage(loaded: Loaded, page: SessionsPage): Loaded {
  const known = new Set(loaded.sessions.map(({ id }) => id));
  const added = page.sessions.filter(({ id }) => !known.has(id));
  return { sessions: [...loaded.sessions, ...added], cursor: page.cursor };
}

/** Facts of the open session that are newer than the list. */
export interface OpenSession extends Pick<SessionSummary, 'id' | 'title' | 'status' | 'reason'> {
  /** Whether the reason is as specific as the list's, and newer. */
  readonly isWhole: boolean;
}

/** Applies the facts of the open session: the list is read from time to time, so a row must not contradict the view. */
export const withOpen = (
  sessions: readonly SessionSummary[],
  open: OpenSession | null,
): readonly SessionSummary[] =>
  open === null
    ? sessions
    : sessions.map((session) =>
        session.id === open.id
          ? {
              ...session,
              title: open.title ?? session.title,
              status: open.status,
              // the list may know more, such as how many steps it took
              reason: open.isWhole || session.status !== open.status ? open.reason : session.reason,
            }
          : session,
      );

export interface SessionGroup {
  readonly title: string;
  readonly sessions: readonly SessionSummary[];
}

/** Groups sessions: those that need approval first, the others by the day of their last change. */
export function groupsOf(sessions: readonly SessionSummary[], now: Date): readonly SessionGroup[] {
  const groups = new Map<string, SessionSummary[]>(
    ['Needs you', 'Today', 'Yesterday', 'Earlier'].map((title) => [title, []]),
  );
  for (const session of sessions) {
    const age = daysBetween(new Date(session.updatedAt), now);
    const title = isWaiting(session)
      ? 'Needs you'
      : age <= 0
        ? 'Today'
        : age === 1
          ? 'Yesterday'
          : 'Earlier';
    groups.get(title)?.push(session);
  }
  return [...groups]
    .map(([title, members]) => ({ title, sessions: members }))
    .filter((group) => group.sessions.length > 0);
}

const isWaiting = ({ status }: SessionSummary): boolean => status === 'paused';

/** Formats `2m` for a session that waits, `now` for a busy one, a clock time within two days, else a date. */
export function timeText(session: SessionSummary, now: Date): string {
  const changed = new Date(session.updatedAt);
  if (session.status === 'processing') return 'now';
  if (isWaiting(session)) return ageText(now.getTime() - changed.getTime());
  return daysBetween(changed, now) <= 1 ? clockText(changed) : dateText(changed, now);
}

export function ageText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes}m`;
  if (minutes < 60 * 24) return `${Math.floor(minutes / 60)}h`;
  return `${Math.floor(minutes / 60 / 24)}d`;
}
