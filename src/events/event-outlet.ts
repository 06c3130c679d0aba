import type { AgentEvent, AgentEventType, EventBase, FieldsOf } from './agent-event.ts';

/** An event before anybody hears it: the object that listeners get is only made for them. */
export interface EventNote extends EventBase {
  readonly type: AgentEventType;
  readonly fields: FieldsOf<AgentEventType>;
}

/** Stands between a run and its listeners: it decides when they hear of an event, and keeps the order. */
export interface EventOutlet {
  wants(type: AgentEventType): boolean;
  publish(note: EventNote, tell: () => void): void;
}

export function eventOf(note: EventNote): AgentEvent {
  const { type, agentId, parentAgentId, executionId, index, at, fields } = note;
  const event = { type, agentId, parentAgentId, executionId, index, at, ...fields };
  return event as AgentEvent; // type and fields belong together where the note was made
}
