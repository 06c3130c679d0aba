import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { SessionSummary } from '../server/api.ts';
import type { Api } from './api-client.ts';
import { problemOf, type ApiProblem } from './api-problem.ts';
import { withFirstPage, withNextPage, type Loaded } from './session-pages.ts';

export interface Sessions {
  /** Null before the first response. */
  readonly sessions: readonly SessionSummary[] | null;
  /** The search of the response, which may lag behind the field. */
  readonly search: string;
  readonly hasMore: boolean;
  readonly problem: ApiProblem | null;
  readonly loadMore: () => void;
  readonly refresh: () => void;
}

export interface SessionsTiming {
  readonly typingMs?: number;
  readonly busyMs?: number;
  readonly quietMs?: number;
}

const pageSize = 50;

interface Shown {
  readonly search: string;
  readonly loaded: Loaded | null;
  readonly problem: ApiProblem | null;
}

/** Reads the list regularly, when the window becomes visible, and on `refresh`. */
export function useSessions(
  api: Api,
  typed: string,
  { typingMs = 200, busyMs = 3_000, quietMs = 12_000 }: SessionsTiming = {},
): Sessions {
  const search = useDebounced(typed.trim(), typingMs);
  const [shown, setShown] = useState<Shown>({ search: '', loaded: null, problem: null });
  const reading = useRef<AbortController | null>(null);

  const read = useCallback(async (): Promise<void> => {
    reading.current?.abort();
    const end = (reading.current = new AbortController());
    try {
      const page = await api.sessions({ search, limit: pageSize }, end.signal);
      if (end.signal.aborted) return;
      setShown((before) => ({
        search,
        loaded: withFirstPage(before.search === search ? before.loaded : null, page),
        problem: null,
      }));
    } catch (thrown) {
      if (!end.signal.aborted) setShown((before) => ({ ...before, problem: problemOf(thrown) }));
    }
  }, [api, search]);

  const latest = useRef(read);
  const refresh = useCallback(() => void latest.current(), []);
  useEffect(() => {
    latest.current = read;
    void read();
    return () => reading.current?.abort();
  }, [read]);

  const isBusy = shown.loaded?.sessions.some(({ status }) => status === 'processing') === true;
  useEffect(() => {
    const whenSeen = (): void => {
      if (document.visibilityState !== 'hidden') refresh();
    };
    const timer = setInterval(whenSeen, isBusy ? busyMs : quietMs);
    addEventListener('focus', whenSeen);
    document.addEventListener('visibilitychange', whenSeen);
    return () => {
      clearInterval(timer);
      removeEventListener('focus', whenSeen);
      document.removeEventListener('visibilitychange', whenSeen);
    };
  }, [refresh, isBusy, busyMs, quietMs]);

  const cursor = shown.search === search ? (shown.loaded?.cursor ?? null) : null;
  const next = useRef<string | null>(null);
  const loadMore = useCallback((): void => {
    // the end of the list is visible many times before the next page arrives
    if (cursor === null || next.current === cursor) return;
    next.current = cursor;
    const { signal } = (reading.current ??= new AbortController());
    api
      .sessions({ search, cursor, limit: pageSize }, signal)
      .then((page) =>
        setShown((before) =>
          before.search === search && before.loaded
            ? { ...before, loaded: withNextPage(before.loaded, page) }
            : before,
        ),
      )
      .catch(() => {
        next.current = null;
      });
  }, [api, search, cursor]);

  return useMemo(
    () => ({
      sessions: shown.loaded?.sessions ?? null,
      search: shown.search,
      hasMore: cursor !== null,
      problem: shown.problem,
      loadMore,
      refresh,
    }),
    [shown, cursor, loadMore, refresh],
  );
}

function useDebounced(value: string, ms: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (value === '') return setSettled('');
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
