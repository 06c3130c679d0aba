import { useCallback, useEffect, useMemo, useReducer, useState } from 'react';
import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { Grants } from '../continuation/grants.ts';
import { useAgentSession, type AgentSession } from '../react/use-agent-session.ts';
import type { SessionDetail } from '../server/api.ts';
import type { Trace } from '../trace/trace.ts';
import { SourceError } from '../ui/sources/source-error.ts';
import type { Api } from './api-client.ts';
import { problemOf, type ApiProblem } from './api-problem.ts';
import type { GrantState } from './contract.ts';
import { withNews } from './news-source.ts';
import type { OpenCall } from './route.ts';
import { useDetail } from './use-detail.ts';
import { useGrant } from './use-grant.ts';
import { useTrace } from './use-trace.ts';

/** State of the open session, and the actions on it. */
export interface ActiveSession {
  readonly session: AgentSession;
  readonly detail: SessionDetail | null;
  /** The newest known status. */
  readonly status: BroadcastStatus;
  /** Trace of the newest execution. */
  readonly trace: Trace | null;
  /** Trace of the selected execution or nested agent; the newest if none is selected. */
  readonly chosen: Trace | null;
  /** Why the selected nested agent cannot be shown. */
  readonly nestedProblem: ApiProblem | null;
  /** Why there is nothing to show: not found, signed out, no server. */
  readonly problem: ApiProblem | null;
  readonly grantState: GrantState;
  readonly grant: (grant: Grants | null) => void;
  readonly fetchRef: (ref: string) => Promise<unknown>;
  readonly earlier: () => void;
  /** Reconnects and reads again immediately. */
  readonly retry: () => void;
}

export interface ActiveSessionOptions {
  /** Execution whose trace is shown; null for the newest. */
  readonly execution: string | null;
  /** Call whose agent is shown; null for the session's own agent. */
  readonly call: OpenCall | null;
  /** Facts before the first response, such as from the request that created the session. */
  readonly known?: SessionDetail | null;
}

/** Milliseconds between reads while it runs, for facts without an envelope, such as the length of a wait. */
const workingMs = 2_000;

export function useActiveSession(
  api: Api,
  sessionId: string | null,
  { execution, call, known = null }: ActiveSessionOptions,
): ActiveSession {
  const [round, setRound] = useState(0);
  const [news, noteNews] = useReducer((count: number) => count + 1, 0);
  const live = useMemo(() => {
    if (sessionId === null) return null;
    const { source, actions } = api.live(sessionId);
    return { source: withNews(source, noteNews, round), actions };
  }, [api, sessionId, round]);
  const session = useAgentSession(live ?? { source: null });
  const { executionId } = session.state;
  const status = executionId === null ? null : session.status;
  const waiting = session.approvals.length + session.inputs.length;
  const stamp = [round, status, executionId, session.stop?.timestamp, waiting];
  const { detail, problem } = useDetail(api, sessionId, stamp.join(), known);
  const shownStatus = status ?? detail?.status ?? 'idle';

  const [ticks, tick] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (shownStatus !== 'processing') return;
    const timer = setInterval(tick, workingMs);
    return () => clearInterval(timer);
  }, [shownStatus]);
  const newsOfWork = [news, ticks, ...stamp].join();
  const newest = useTrace(api, { sessionId, execution: null, news: newsOfWork });
  const isOther =
    execution !== null && newest.trace !== null && execution !== newest.trace.executionId;
  const other = useTrace(api, { sessionId: isOther ? sessionId : null, execution, news: '' });
  const nested = useTrace(api, {
    sessionId: call === null ? null : sessionId,
    execution,
    call,
    news: isOther ? '' : newsOfWork,
  });
  const ofView = call !== null ? nested : isOther ? other : newest;

  const { grantState, grant } = useGrant({
    sessionId,
    stoppedAt: session.stop?.timestamp ?? null,
    resume:
      detail?.phase === 'parked' && sessionId !== null
        ? () => api.retry(sessionId)
        : (live?.actions.resume ?? null),
    hasMoved: async () =>
      sessionId !== null && (await api.session(sessionId)).updatedAt !== detail?.updatedAt,
  });

  const { error } = session;
  const refusal = SourceError.is(error) && error.isFinal ? error : null;
  const retry = useCallback((): void => {
    // a source that waits for a retry wakes up; one that was refused starts again
    if (refusal) setRound((count) => count + 1);
    else dispatchEvent(new Event('online'));
  }, [refusal]);
  const fetchRef = useCallback(
    (ref: string): Promise<unknown> => api.ref(sessionId ?? '', ref),
    [api, sessionId],
  );
  return {
    session,
    detail,
    status: shownStatus,
    trace: newest.trace,
    chosen: ofView.trace,
    nestedProblem: call !== null && nested.trace === null ? nested.problem : null,
    problem:
      (detail === null ? problem : null) ??
      (refusal ? problemOf(refusal) : null) ??
      (isOther ? other.problem : null),
    grantState,
    grant,
    fetchRef,
    earlier: ofView.earlier,
    retry,
  };
}
