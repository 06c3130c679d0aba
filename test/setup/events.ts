import {
  AgentBuilder,
  type Agent,
  type AgentEvent,
  type AgentState,
  type InferenceDriver,
} from 'onward';
import { fakeClock } from 'onward/testing';
import type { AgentEventType } from '../../src/events/agent-event.ts';

export const at = '2026-01-16T12:00:00.000Z';
export const args = { article: 'lamp' };

export const builder = (driver: InferenceDriver): AgentBuilder =>
  AgentBuilder.base().withName('shop').withDriver(driver).withClock(fakeClock(at));

export async function listen(
  agent: Agent,
  run: (tap: (event: AgentEvent) => void) => Promise<AgentState>,
): Promise<{ events: AgentEvent[]; state: AgentState; agent: Agent }> {
  const events: AgentEvent[] = [];
  const state = await run((event) => events.push(event));
  return { events, state, agent };
}

export const types = (events: readonly AgentEvent[]): AgentEventType[] =>
  events.map(({ type }) => type);

/** The fields of an event without the common ones. */
export const own = (event: AgentEvent): object => {
  const { agentId: _a, parentAgentId: _p, executionId: _e, at: _t, ...rest } = event;
  return rest;
};

/** The events that end a step. */
export const stepEnd: readonly AgentEventType[] = [
  'TokenUsageReported',
  'AgentStepCompleted',
  'ContinuationEvaluated',
  'AgentStateUpdated',
];

/** The events of a step with an answer in this many chunks, and of the end of the run. */
export const answerIn = (pieces: number): readonly AgentEventType[] => [
  'AgentStepStarted',
  ...Array.from({ length: pieces }, () => 'StreamChunk' as const),
  'MessageAdded',
  ...stepEnd,
  'AgentFinished',
];
