import { useEffect, useState } from 'react';
import type { ReplaySummary } from '../../server/replay-view.ts';
import type { Api, ReplaysQuery } from '../api-client.ts';
import { problemOf, type ApiProblem } from '../api-problem.ts';

export interface Replays {
  /** Null before the first response. */
  readonly replays: readonly ReplaySummary[] | null;
  readonly problem: ApiProblem | null;
  readonly isBusy: boolean;
  /** Milliseconds that the last answer took; null before it. */
  readonly tookMs: number | null;
}

/** Milliseconds after a change before the runs are judged: a slider changes often. */
const WAIT_MS = 200;
/** Most pages for one answer. */
const MOST_PAGES = 20;

/** Judges the newest runs again, whenever the limits change. The last answer stays until the next one. */
export function useReplays(api: Api, query: string, count: number, retry: number): Replays {
  const [state, setState] = useState<Replays>({
    replays: null,
    problem: null,
    isBusy: true,
    tookMs: null,
  });
  useEffect(() => {
    const end = new AbortController();
    setState((before) => ({ ...before, isBusy: true }));
    const timer = setTimeout(() => {
      const began = performance.now();
      readAll(api, JSON.parse(query) as ReplaysQuery, count, end.signal).then(
        (replays) => {
          if (end.signal.aborted) return;
          const tookMs = performance.now() - began;
          setState({ replays, problem: null, isBusy: false, tookMs });
        },
        (thrown: unknown) => {
          if (end.signal.aborted) return;
          setState((before) => ({ ...before, problem: problemOf(thrown), isBusy: false }));
        },
      );
    }, WAIT_MS);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [api, query, count, retry]);
  return state;
}

async function readAll(
  api: Api,
  query: ReplaysQuery,
  count: number,
  signal: AbortSignal,
): Promise<readonly ReplaySummary[]> {
  const found: ReplaySummary[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < MOST_PAGES && found.length < count; pages += 1) {
    const page = await api.replays(
      {
        ...query,
        limit: Math.min(50, count - found.length),
        ...(cursor !== null && { cursor }),
      },
      signal,
    );
    found.push(...page.replays);
    ({ cursor } = page);
    if (cursor === null) break;
  }
  return found;
}
