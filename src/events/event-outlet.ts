import type { AgentEvent, AgentEventType, EventBase, FieldsOf } from './agent-event.ts';

/** An event before delivery: the object for listeners is created only on demand. */
export interface EventNote extends EventBase {
  readonly type: AgentEventType;
  readonly fields: FieldsOf<AgentEventType>;
}

/** Delivers the events of a run to its listeners: decides when, and keeps the order. */
export interface EventOutlet {
  wants(type: AgentEventType): boolean;
  publish(note: EventNote, tell: () => void): void;
}

export function eventOf(note: EventNote): AgentEvent {
  const { type, agentId, parentAgentId, executionId, index, at, fields } = note;
  const event = { type, agentId, parentAgentId, executionId, index, at, ...fields };
  return event as AgentEvent; // the note paired type and fields
}
