import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Trace } from '../trace/trace.ts';
import type { Api } from './api-client.ts';
import { problemOf, type ApiProblem } from './api-problem.ts';
import type { OpenCall } from './route.ts';
import { withEarlier, withNewest } from './trace-pages.ts';

export interface TraceState {
  readonly trace: Trace | null;
  readonly problem: ApiProblem | null;
  readonly earlier: () => void;
}

export interface TraceOf {
  readonly sessionId: string | null;
  /** Execution id; null for the newest. */
  readonly execution: string | null;
  /** A call that runs an agent; null for the session's own agent. */
  readonly call?: OpenCall | null;
  /** Changes when there is news. One read runs at a time, and one more follows for news in between. */
  readonly news: string;
}

interface Shown {
  readonly of: string | null;
  readonly trace: Trace | null;
  readonly problem: ApiProblem | null;
}

export function useTrace(api: Api, { sessionId, execution, call, news }: TraceOf): TraceState {
  const callId = call?.callId ?? null;
  const inStep = call?.step ?? null;
  const query = useMemo(
    () => ({
      execution,
      ...(callId !== null && inStep !== null && { call: callId, step: inStep }),
    }),
    [execution, callId, inStep],
  );
  const of = sessionId === null ? null : `${sessionId} ${execution ?? ''} ${callId ?? ''}`;
  const [shown, setShown] = useState<Shown>({ of, trace: null, problem: null });
  const read = useRef<(() => void) | null>(null);

  useEffect(() => {
    if (sessionId === null) return;
    const { signal, end } = ending();
    let isReading = false;
    let isStale = false;
    const ask = async (): Promise<void> => {
      if (isReading) {
        isStale = true;
        return;
      }
      isReading = true;
      do {
        isStale = false;
        try {
          const fresh = await api.trace(sessionId, query, signal);
          if (!signal.aborted)
            setShown((before) => ({
              of,
              trace: withNewest(before.of === of ? before.trace : null, fresh),
              problem: null,
            }));
        } catch (thrown) {
          if (!signal.aborted)
            setShown((before) => ({
              of,
              trace: before.of === of ? before.trace : null,
              problem: problemOf(thrown),
            }));
        }
      } while (isStale && !signal.aborted);
      isReading = false;
    };
    read.current = () => void ask();
    return () => {
      read.current = null;
      end();
    };
  }, [api, sessionId, query, of]);

  useEffect(() => read.current?.(), [news, of]);

  const trace = shown.of === of ? shown.trace : null;
  const first = trace?.steps[0]?.number;
  const earlier = useCallback((): void => {
    if (sessionId === null || first === undefined) return;
    api
      .trace(sessionId, { ...query, before: first })
      .then((page) =>
        setShown((before) =>
          before.of === of && before.trace
            ? { ...before, trace: withEarlier(before.trace, page) }
            : before,
        ),
      )
      .catch((thrown: unknown) =>
        setShown((before) =>
          before.of === of ? { ...before, problem: problemOf(thrown) } : before,
        ),
      );
  }, [api, sessionId, query, of, first]);

  return { trace, problem: shown.of === of ? shown.problem : null, earlier };
}

function ending(): { readonly signal: AbortSignal; readonly end: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, end: () => controller.abort() };
}
