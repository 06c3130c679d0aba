import { useMemo, type ReactElement } from 'react';
import type { AgentInfo } from '../server/api.ts';
import type { Api } from './api-client.ts';
import { ChatView } from './chat/chat-view.tsx';
import { NoNestedTrace, NoSteps, NotFound, Problem, ServerUnreachable } from './empty-state.tsx';
import { hrefAbove, hrefOfAncestor } from './nested-href.ts';
import { payloadSource } from './payloads/payload-source.ts';
import { go, hrefOf, traceHref, type Route } from './route.ts';
import { TraceView } from './trace/trace-view.tsx';
import type { ActiveSession } from './use-active-session.ts';

export interface SessionMainProps {
  readonly api: Api;
  readonly route: Extract<Route, { readonly sessionId: string }>;
  readonly active: ActiveSession;
  readonly agent: AgentInfo | null;
  readonly maxAttachmentBytes?: number | undefined;
  readonly onFork: (step: number) => void;
  readonly onNewMessage: () => void;
  readonly onRetry: () => void;
}

/** Renders the chat or the trace of a session, or why there is none. */
export function SessionMain(props: SessionMainProps): ReactElement {
  const { api, route, active, agent } = props;
  const payloads = useMemo(() => payloadSource(api, route.sessionId), [api, route.sessionId]);
  const { detail, problem, chosen, grant, grantState } = active;
  const isKnown = detail !== null || active.session.messages.length > 0;
  if (problem?.isNotFound) return <NotFound />;
  if (problem && !isKnown)
    return problem.isUnreachable ? (
      <ServerUnreachable onRetry={props.onRetry} />
    ) : (
      <Problem message={problem.message} code={problem.code} onRetry={props.onRetry} />
    );
  const { sessionId } = route;
  if (route.view === 'chat')
    return (
      <ChatView
        session={active.session}
        agent={agent}
        detail={detail}
        trace={active.trace}
        fetchRef={active.fetchRef}
        onOpenStep={(step, execution = null) => go(traceHref(sessionId, step, execution))}
        onGrant={grant}
        onResume={() => grant(null)}
        grantState={grantState}
        {...(props.maxAttachmentBytes !== undefined && {
          maxAttachmentBytes: props.maxAttachmentBytes,
        })}
      />
    );
  if (active.nestedProblem)
    return <NoNestedTrace message={active.nestedProblem.message} href={hrefAbove(route, null)} />;
  if (!chosen) return <p className="waiting muted">Loading the trace…</p>;
  if (chosen.steps.length === 0 && chosen.outcome === null && !chosen.nested) return <NoSteps />;
  const { execution, call = null } = route;
  const newest = chosen.steps.at(-1)?.number ?? null;
  return (
    <TraceView
      // remount for each execution and agent, so that no selection stays
      key={`${chosen.executionId} ${chosen.nested?.callId}`}
      trace={chosen}
      selected={route.step}
      payloads={payloads}
      tab={route.tab ?? null}
      onTab={(tab) => go(hrefOf({ ...route, tab, step: route.step ?? newest }), 'replace')}
      onSelect={(step) => go(traceHref(sessionId, step, execution, call), 'replace')}
      onGrant={grant}
      onResume={() => grant(null)}
      onNewMessage={props.onNewMessage}
      onFork={props.onFork}
      isReadOnly={detail?.imported !== undefined}
      onEarlier={active.earlier}
      onOpenCall={(callId, step) =>
        go(traceHref(sessionId, null, chosen.executionId, { callId, step: call?.step ?? step }))
      }
      onOpenAbove={(ancestor) => go(hrefOfAncestor(route, ancestor))}
      grantState={grantState}
    />
  );
}
