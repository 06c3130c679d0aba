import type { AgentEvent, AgentEventType } from './agent-event.ts';

/** Stands between a run and its listeners: it decides when they hear of an event, and keeps the order. */
export interface EventOutlet {
  wants(type: AgentEventType): boolean;
  publish(event: AgentEvent, tell: () => void): void;
}
