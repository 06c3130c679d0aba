import { useEffect, useState } from 'react';
import type { SessionDetail } from '../server/api.ts';
import type { Api } from './api-client.ts';
import { problemOf, type ApiProblem } from './api-problem.ts';

export interface DetailState {
  readonly detail: SessionDetail | null;
  readonly problem: ApiProblem | null;
}

/** Reads the session from the server whenever `stamp` changes; drops late responses about others. */
export function useDetail(
  api: Api,
  sessionId: string | null,
  stamp: string,
  known: SessionDetail | null,
): DetailState {
  const first: DetailState = { detail: known?.id === sessionId ? known : null, problem: null };
  const [shown, setShown] = useState({ sessionId, ...first });
  useEffect(() => {
    if (sessionId === null) return;
    const end = new AbortController();
    api.session(sessionId, end.signal).then(
      (detail) => {
        if (!end.signal.aborted) setShown({ sessionId, detail, problem: null });
      },
      (thrown: unknown) => {
        if (end.signal.aborted) return;
        const problem = problemOf(thrown);
        setShown((before) => ({
          sessionId,
          // a deleted session is gone; a server that is down changes nothing
          detail: before.sessionId === sessionId && !problem.isNotFound ? before.detail : null,
          problem,
        }));
      },
    );
    return () => end.abort();
  }, [api, sessionId, stamp]);
  return shown.sessionId === sessionId ? shown : first;
}
