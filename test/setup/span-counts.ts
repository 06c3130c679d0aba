import type { AgentState, AgentStep, SessionRuntime } from 'onward';
import { expect } from 'vitest';
import { AppendOnly } from '../../src/append-only.ts';
import type { ReceivedSpan } from './otlp.ts';

interface SpanCountOptions {
  /** Steps that called no model. */
  readonly silent?: number;
  /** Whether the process of the first run was killed, so that the span of that run never arrived. */
  readonly hasLostRun?: boolean;
}

const spanIdIn = (traceparent: string | undefined): string => traceparent?.split('-')[2] ?? '';

/** Counts the spans of the last execution of a session against all of its steps in the store. */
export async function expectSpansOfSession(
  spans: readonly ReceivedSpan[],
  runtime: SessionRuntime,
  id: string,
  { owner, ...options }: SpanCountOptions & { readonly owner: string },
): Promise<void> {
  const state = await runtime.state(id, { owner });
  const { items } = await runtime.steps(id, { owner, limit: 500 });
  const steps = AppendOnly.of(items as unknown as readonly AgentStep[]);
  expectSpansOf(spans, state.with({ steps }), options);
}

/** The spans of one agent's execution. */
const ofExecution = (spans: readonly ReceivedSpan[], { execution, agentName }: AgentState) =>
  spans.filter(
    ({ attributes }) =>
      attributes['onward.execution.id'] === execution.id &&
      attributes['gen_ai.agent.name'] === agentName,
  );

/**
 * D86: counts the spans of a state against its steps: each step has its event, each answer and each failed call its
 * `chat`, each answered call its `execute_tool`, and all lie in a run of this execution.
 */
export function expectSpansOf(
  spans: readonly ReceivedSpan[],
  state: AgentState,
  { silent = 0, hasLostRun = false }: SpanCountOptions = {},
): void {
  const own = ofExecution(spans, state);
  const runs = own.filter(({ name }) => name.startsWith('invoke_agent '));
  const runIds = new Set(runs.map(({ spanId }) => spanId));
  const inside = own.filter((span) => !runs.includes(span));
  if (hasLostRun) runIds.add(spanIdIn(state.execution.traceparent));
  for (const span of inside)
    expect([span.name, runIds.has(span.parentSpanId)]).toEqual([span.name, true]);
  const steps = state.steps
    .toJSON()
    .filter(({ executionId }) => executionId === state.execution.id);
  expect(steps).toHaveLength(state.stepCount);
  const reported = runs.flatMap(({ events }) =>
    events
      .filter(({ name }) => name === 'onward.step')
      .map((event) => event.attributes['onward.step']),
  );
  const numbers = steps.map(({ number }) => number);
  // a run that was lost sent no events of its steps
  expect(reported).toEqual(hasLostRun ? numbers.slice(numbers.length - reported.length) : numbers);
  const models = inside.filter(({ name }) => name.startsWith('chat '));
  const isSummary = ({ attributes }: ReceivedSpan): boolean =>
    attributes['onward.summary'] === true;
  // each summary that a compaction has was written in a span of its own; a failed one has a span too
  for (const { number, compactions = [] } of steps) {
    const summaries = compactions.filter(({ kind }) => kind === 'summary').length;
    const written = models.filter(
      (span) => isSummary(span) && span.attributes['onward.step'] === number,
    );
    expect(written.length).toBeGreaterThanOrEqual(summaries);
  }
  const chats = models.filter((span) => !isSummary(span));
  const called = new Set(chats.map(({ attributes }) => attributes['onward.step']));
  expect(called.size).toBe(steps.length - silent + (state.unfinishedStep ? 1 : 0));
  const tools = inside.filter(({ name }) => name.startsWith('execute_tool '));
  const results = steps.flatMap((step) => step.results);
  for (const { callId, kind } of results) {
    const ofCall = tools.filter(({ attributes }) => attributes['gen_ai.tool.call.id'] === callId);
    const closed = ofCall.filter(({ attributes }) => !isOpen(attributes['onward.tool.outcome']));
    // a call that paused, and that the end of its step closed, has the span of its run
    const isLeft = kind === 'aborted' && closed.length === 0 && ofCall.length > 0;
    expect([callId, kind, isLeft ? 1 : closed.length]).toEqual([callId, kind, 1]);
  }
  const ids = new Set(results.map(({ callId }) => callId));
  for (const { callId } of state.unfinishedStep?.results ?? []) ids.add(callId);
  for (const { attributes } of tools)
    if (!isOpen(attributes['onward.tool.outcome']))
      expect(ids).toContain(attributes['gen_ai.tool.call.id']);
  for (const span of own) expect(span.ended >= span.began).toBe(true);
}

const isOpen = (outcome: unknown): boolean => outcome === 'paused' || outcome === 'input_required';
