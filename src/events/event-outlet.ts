import type { AgentEvent, AgentEventType, EventBase, FieldsOf } from './agent-event.ts';

/** An event before delivery: the object for listeners is created only on demand. */
export interface EventNote extends EventBase {
  readonly type: AgentEventType;
  readonly fields: FieldsOf<AgentEventType>;
}

/** Decides when the events of a run are delivered to its listeners, and keeps the order. */
export interface EventOutlet {
  wants(type: AgentEventType): boolean;
  publish(note: EventNote, deliver: () => void): void;
}

export function eventOf(note: EventNote): AgentEvent {
  const { type, agentId, parentAgentId, executionId, index, at, fields } = note;
  const event = { type, agentId, parentAgentId, executionId, index, at, ...fields };
  return event as AgentEvent; // the note paired type and fields
}
