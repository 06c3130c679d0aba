import { useCallback, useState } from 'react';
import type { Api, ListedPage, ListedSession } from '../api-client.ts';
import { problemOf, type ApiProblem } from '../api-problem.ts';
import { useRead } from '../use-read.ts';
import { listQueryOf, scopeOf, type ListFilters } from './list-filters.ts';

export interface ListedGroups {
  /** Sessions that need attention; null if they are not apart. */
  readonly needed: Group | null;
  readonly others: Group;
}

interface Group {
  readonly sessions: readonly ListedSession[];
  /** Number of all of them; null if it is not known. */
  readonly total: number | null;
  readonly cursor: string | null;
}

export interface Listed {
  readonly groups: ListedGroups | null;
  readonly matches: NonNullable<ListedPage['matches']>;
  readonly problem: ApiProblem | null;
  readonly loadMore: (which: keyof ListedGroups) => Promise<void>;
  readonly refresh: () => void;
}

const PAGE = 50;

type More = Readonly<Record<keyof ListedGroups, ListedPage | null>>;
const noMore: More = { needed: null, others: null };

/** Reads the sessions of the filters: those that need attention apart, unless a search or a filter is about them. */
export function useListed(api: Api, filters: ListFilters): Listed {
  const scope = scopeOf(filters);
  const isApart = filters.q.trim() === '' && filters.attention === '';
  const key = JSON.stringify(filters);
  const query = (which: keyof ListedGroups, cursor?: string): Parameters<Api['list']>[1] => ({
    ...listQueryOf(filters, Date.now()),
    ...(isApart && { attention: which === 'needed' ? 'true' : 'false' }),
    limit: PAGE,
    ...(cursor === undefined ? { total: 'true' } : { cursor }),
  });
  const { value, problem, refresh } = useRead(key, async (signal) => {
    const [needed, others] = await Promise.all([
      isApart ? api.list(scope, query('needed'), signal) : null,
      api.list(scope, query('others'), signal),
    ]);
    return { needed, others };
  });
  const [more, setMore] = useState({ key, pages: noMore });
  const pages = more.key === key ? more.pages : noMore;
  const [moreProblem, setMoreProblem] = useState<ApiProblem | null>(null);

  const loadMore = async (which: keyof ListedGroups): Promise<void> => {
    const cursor = (pages[which] ?? value?.[which])?.cursor;
    if (!cursor) return;
    try {
      const page = await api.list(scope, query(which, cursor));
      const earlier = pages[which]?.sessions ?? [];
      const joined = {
        ...page,
        sessions: [...earlier, ...page.sessions],
        matches: { ...pages[which]?.matches, ...page.matches },
      };
      setMore({ key, pages: { ...pages, [which]: joined } });
      setMoreProblem(null);
    } catch (thrown) {
      setMoreProblem(problemOf(thrown));
    }
  };
  const group = (which: keyof ListedGroups): Group | null => {
    const first = value?.[which];
    if (!first) return null;
    const known = new Set(first.sessions.map(({ id }) => id));
    const later = (pages[which]?.sessions ?? []).filter(({ id }) => !known.has(id));
    return {
      sessions: [...first.sessions, ...later],
      total: first.total,
      cursor: (pages[which] ?? first).cursor,
    };
  };
  const others = group('others');
  return {
    groups: others && { needed: group('needed'), others },
    matches: { ...value?.others.matches, ...pages.others?.matches },
    problem: problem ?? moreProblem,
    loadMore,
    refresh: useCallback(() => {
      setMore({ key: '', pages: noMore });
      refresh();
    }, [refresh]),
  };
}
