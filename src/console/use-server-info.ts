import { useEffect, useState } from 'react';
import type { ServerInfo } from '../server/api.ts';
import type { Api } from './api-client.ts';
import { problemOf, type ApiProblem } from './api-problem.ts';

export interface ServerInfoState {
  readonly info: ServerInfo | null;
  readonly problem: ApiProblem | null;
}

/** Milliseconds until a server that does not respond is asked again. */
const retryMs = 3_000;

/** Reads the server's info; repeats while the server does not respond. `round` reads again. */
export function useServerInfo(api: Api, round: number): ServerInfoState {
  const [state, setState] = useState<ServerInfoState>({ info: null, problem: null });
  useEffect(() => {
    const end = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      try {
        const info = await api.info(end.signal);
        if (!end.signal.aborted) setState({ info, problem: null });
      } catch (thrown) {
        if (end.signal.aborted) return;
        const problem = problemOf(thrown);
        setState(({ info }) => ({ info, problem }));
        if (problem.isUnreachable) timer = setTimeout(() => void ask(), retryMs);
      }
    };
    void ask();
    return () => {
      end.abort();
      clearTimeout(timer);
    };
  }, [api, round]);
  return state;
}
