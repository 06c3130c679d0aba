import { useCallback, useEffect, useState } from 'react';
import type { EvalReport } from '../../evals/eval-report.ts';
import type { EvalSuite } from '../../evals/eval-reports.ts';
import type { Api } from '../api-client.ts';
import { problemOf, type ApiProblem } from '../api-problem.ts';

export interface EvalList {
  /** Null before the first response. */
  readonly suites: readonly EvalSuite[] | null;
  readonly problem: ApiProblem | null;
  readonly refresh: () => void;
}

const QUIET_MS = 10_000;

/** Reads the stored suites: regularly, and when the window becomes visible. */
export function useEvalList(api: Api): EvalList {
  const [suites, setSuites] = useState<readonly EvalSuite[] | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [round, setRound] = useState(0);
  const refresh = useCallback(() => setRound((before) => before + 1), []);
  useEffect(() => {
    const end = new AbortController();
    api
      .evals(end.signal)
      .then((found) => {
        // an equal list keeps its identity, so that nothing is drawn again
        setSuites((before) => (JSON.stringify(before) === JSON.stringify(found) ? before : found));
        setProblem(null);
      })
      .catch((thrown: unknown) => {
        if (!end.signal.aborted) setProblem(problemOf(thrown));
      });
    return () => end.abort();
  }, [api, round]);
  useEffect(() => {
    const whenSeen = (): void => {
      if (document.visibilityState !== 'hidden') refresh();
    };
    const timer = setInterval(whenSeen, QUIET_MS);
    addEventListener('focus', whenSeen);
    return () => {
      clearInterval(timer);
      removeEventListener('focus', whenSeen);
    };
  }, [refresh]);
  return { suites, problem, refresh };
}

/** A report that was read; null if there is none. */
export type ReadReport =
  | { readonly state: 'loading' }
  | { readonly state: 'ready'; readonly report: EvalReport | null }
  | { readonly state: 'failed'; readonly problem: ApiProblem };

/** Reads a stored report, once: it never changes. Without a number there is none. */
export function useEvalReport(api: Api, suite: string | null, number: number | null): ReadReport {
  const key = suite === null || number === null ? null : `${suite}/${number}`;
  const [read, setRead] = useState<{ readonly key: string; readonly result: ReadReport } | null>(
    null,
  );
  useEffect(() => {
    if (key === null || suite === null || number === null) return undefined;
    const end = new AbortController();
    api
      .evalReport(suite, number, end.signal)
      .then((report) => setRead({ key, result: { state: 'ready', report } }))
      .catch((thrown: unknown) => {
        if (!end.signal.aborted)
          setRead({ key, result: { state: 'failed', problem: problemOf(thrown) } });
      });
    return () => end.abort();
  }, [api, key, suite, number]);
  if (key === null) return none;
  return read?.key === key ? read.result : loading;
}

const none: ReadReport = { state: 'ready', report: null };
const loading: ReadReport = { state: 'loading' };
