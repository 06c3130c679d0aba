import type { ReactElement } from 'react';
import type { AgentInfo } from '../server/api.ts';
import { ChatView } from './chat/chat-view.tsx';
import { NoSteps, NotFound, Problem, ServerGone } from './empty-state.tsx';
import { go, traceHref, type Route } from './route.ts';
import { TraceView } from './trace/trace-view.tsx';
import type { SessionDeskState } from './use-session-desk.ts';

export interface SessionMainProps {
  readonly route: Extract<Route, { readonly sessionId: string }>;
  readonly desk: SessionDeskState;
  readonly agent: AgentInfo | null;
  readonly onFork: (step: number) => void;
  readonly onNewMessage: () => void;
  readonly onRetry: () => void;
}

/** The chat or the trace of a session, or why there is none. */
export function SessionMain(props: SessionMainProps): ReactElement {
  const { route, desk, agent } = props;
  const { detail, problem, chosen, grant, grantState } = desk;
  const isKnown = detail !== null || desk.session.messages.length > 0;
  if (problem?.isNotFound) return <NotFound />;
  if (problem && !isKnown)
    return problem.isUnreachable ? (
      <ServerGone onRetry={props.onRetry} />
    ) : (
      <Problem message={problem.message} code={problem.code} onRetry={props.onRetry} />
    );
  const { sessionId } = route;
  if (route.view === 'chat')
    return (
      <ChatView
        session={desk.session}
        agent={agent}
        detail={detail}
        trace={desk.trace}
        fetchRef={desk.fetchRef}
        onOpenStep={(step) => go(traceHref(sessionId, step))}
        onGrant={grant}
        onResume={() => grant(null)}
        grantState={grantState}
      />
    );
  if (!chosen) return <p className="waiting muted">Reading the trace…</p>;
  if (chosen.steps.length === 0 && chosen.outcome === null) return <NoSteps />;
  return (
    <TraceView
      // another execution is another trace: nothing of what was selected or unfolded stays
      key={chosen.executionId}
      trace={chosen}
      selected={route.step}
      onSelect={(step) => go(traceHref(sessionId, step, route.execution), 'replace')}
      onGrant={grant}
      onResume={() => grant(null)}
      onNewMessage={props.onNewMessage}
      onFork={props.onFork}
      onEarlier={desk.earlier}
      grantState={grantState}
    />
  );
}
