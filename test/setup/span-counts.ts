import type { AgentState } from 'onward';
import { expect } from 'vitest';
import type { ReceivedSpan } from './otlp.ts';

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
  { silent = 0 }: { /** Steps that called no model. */ readonly silent?: number } = {},
): void {
  const own = ofExecution(spans, state);
  const runs = own.filter(({ name }) => name.startsWith('invoke_agent '));
  const runIds = new Set(runs.map(({ spanId }) => spanId));
  const inside = own.filter((span) => !runs.includes(span));
  for (const span of inside)
    expect([span.name, runIds.has(span.parentSpanId)]).toEqual([span.name, true]);
  const steps = state.steps
    .toJSON()
    .filter(({ executionId }) => executionId === state.execution.id);
  expect(steps).toHaveLength(state.stepCount);
  const reported = runs.flatMap(({ events }) =>
    events.map((event) => event.attributes['onward.step']),
  );
  expect(reported).toEqual(steps.map(({ number }) => number));
  const chats = inside.filter(({ name }) => name.startsWith('chat '));
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
