import { useCallback, useEffect, useRef, useState } from 'react';
import { problemOf, type ApiProblem } from './api-problem.ts';

export interface ReadState<T> {
  /** The newest response to this key; null before it. */
  readonly value: T | null;
  readonly problem: ApiProblem | null;
  readonly refresh: () => void;
}

/** Reads a value, again when `key` changes, when the window is seen again, and every `everyMs` while it is seen. */
export function useRead<T>(
  key: string,
  read: (signal: AbortSignal) => Promise<T>,
  everyMs: number = 10_000,
): ReadState<T> {
  const [shown, setShown] = useState<{
    readonly key: string;
    readonly value: T | null;
    readonly problem: ApiProblem | null;
  }>({ key, value: null, problem: null });
  const latest = useRef(read);
  useEffect(() => {
    latest.current = read;
  });
  const [round, setRound] = useState(0);
  const refresh = useCallback(() => setRound((count) => count + 1), []);
  useEffect(() => {
    const end = new AbortController();
    latest.current(end.signal).then(
      (value) => {
        if (!end.signal.aborted) setShown({ key, value, problem: null });
      },
      (thrown: unknown) => {
        if (end.signal.aborted) return;
        const problem = problemOf(thrown);
        setShown((before) => ({ key, value: before.key === key ? before.value : null, problem }));
      },
    );
    return () => end.abort();
  }, [key, round]);
  useEffect(() => {
    const whenSeen = (): void => {
      if (document.visibilityState !== 'hidden') refresh();
    };
    const timer = setInterval(whenSeen, everyMs);
    addEventListener('focus', whenSeen);
    return () => {
      clearInterval(timer);
      removeEventListener('focus', whenSeen);
    };
  }, [refresh, everyMs]);
  return shown.key === key
    ? { value: shown.value, problem: shown.problem, refresh }
    : { value: null, problem: null, refresh };
}
