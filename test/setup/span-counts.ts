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
  const answered = steps.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));
  const spanned = inside
    .filter(
      ({ name, attributes }) =>
        name.startsWith('execute_tool ') &&
        !['paused', 'input_required'].includes(String(attributes['onward.tool.outcome'])),
    )
    .map(({ attributes }) => attributes['gen_ai.tool.call.id']);
  expect(spanned.toSorted()).toEqual(answered.toSorted());
  for (const span of own) expect(span.ended >= span.began).toBe(true);
}
