import type { Trace, TraceAncestor } from '../trace/trace.ts';
import { traceHref, type Route } from './route.ts';

type TraceRoute = Extract<Route, { readonly view: 'trace' }>;

/** Returns the address of an agent above a nested one, at the step with the call. */
export function hrefOfAncestor(
  { sessionId, execution, call }: TraceRoute,
  { callId, step }: TraceAncestor,
): string {
  const above = callId === null || !call ? null : { callId, step: call.step };
  return traceHref(sessionId, step > 0 ? step : null, execution, above);
}

/** Returns the address of the agent directly above a nested one; of the session's own while its trace loads. */
export function hrefAbove(route: TraceRoute, trace: Trace | null): string {
  const ancestor = trace?.nested?.above.at(-1);
  return ancestor
    ? hrefOfAncestor(route, ancestor)
    : traceHref(route.sessionId, route.call?.step ?? null, route.execution);
}
