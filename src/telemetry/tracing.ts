import {
  context,
  isSpanContextValid,
  propagation,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  trace,
  TraceFlags,
  type Context,
  type Link,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import type { Run } from '../agent/run.ts';

/** Version of the semantic conventions that the names of attributes come from. */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.45.0';
const SCOPE = 'onward';

export const tracer = (): Tracer =>
  trace.getTracerProvider().getTracer(SCOPE, undefined, { schemaUrl: SCHEMA_URL });

/** Whether an SDK records spans. It may be registered at any time. */
export function hasTracing(): boolean {
  const provider = trace.getTracerProvider();
  return (
    !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(SCOPE) !== undefined
  );
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Writes a span context in W3C form; null if it is of no trace. */
export function traceparentOf(span: SpanContext | undefined): string | null {
  if (!span || !isSpanContextValid(span)) return null;
  const flags = (span.traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0');
  return `00-${span.traceId}-${span.spanId}-${flags}`;
}

/** Reads a stored span context; null if there is none, or it is broken. */
function spanContextOf(stored: string | undefined): SpanContext | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(stored ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const span = { traceId, spanId, traceFlags, isRemote: true };
  return isSpanContextValid(span) ? span : null;
}

/** The active context if it has a span, else the given one: an application may have no context manager. */
export function activeOr(other: Context): Context {
  const active = context.active();
  return trace.getSpan(active) === undefined ? other : active;
}

/** W3C headers of a context, by the registered propagator. */
export function headersOf(from: Context): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  propagation.inject(from, headers);
  return headers;
}

/** Where the span of a run belongs. */
export interface Place {
  readonly parent: Context;
  readonly links: Link[];
}

/** Most links of a span: a run may wait for many answers. */
const MOST_LINKS = 32;

/** Returns links to the spans of other traces, each once. */
function linksTo(spans: readonly (SpanContext | null)[], { traceId }: SpanContext): Link[] {
  const others = new Map<string, Link>();
  for (const span of spans)
    if (span !== null && span.traceId !== traceId)
      others.set(`${span.traceId} ${span.spanId}`, { context: span });
  return [...others.values()].slice(0, MOST_LINKS);
}

/**
 * Places the span of a run. A later run of an execution continues the trace of the first one, in any process. In a
 * worker the active context may be that of another session, so that the run of a session takes the context that was
 * stored with its message.
 */
export function placeOf(run: Run, behind: Context | null): Place {
  const active = context.active();
  const stored = spanContextOf(run.state.execution.traceparent);
  if (behind) return { parent: activeOr(behind), links: stored ? [{ context: stored }] : [] };
  const isDurable = run.journal !== null;
  const base = isDurable ? ROOT_CONTEXT : active;
  const caller = isDurable
    ? spanContextOf(run.origin?.traceparent)
    : (trace.getSpanContext(active) ?? null);
  if (stored) {
    const answered = (run.origin?.answeredIn ?? []).map(spanContextOf);
    return {
      parent: trace.setSpanContext(base, stored),
      links: linksTo([caller, ...answered], stored),
    };
  }
  if (!isDurable || caller === null) return { parent: base, links: [] };
  return { parent: trace.setSpanContext(base, caller), links: [] };
}
