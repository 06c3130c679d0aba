import { isoTime } from '../clock.ts';
import type { Redactor } from '../errors/redactor.ts';
import type { AgentEvent, AgentEventType, EventListener, FieldsOf } from './agent-event.ts';
import { notify, type EventBus } from './event-bus.ts';
import { eventOf, type EventNote, type EventOutlet } from './event-outlet.ts';

export interface RunEventsOptions {
  readonly bus: EventBus;
  readonly wiretap: EventListener | undefined;
  readonly parent: RunEvents | null;
  readonly now: () => number;
  readonly redactor: Redactor;
  readonly outlet: EventOutlet | null;
}

/** Emits the events of one run: to the agent's listeners, the run's wiretap, and the listeners of its parents. */
export class RunEvents {
  readonly #options: RunEventsOptions;
  #agentId = '';
  #parentAgentId: string | null = null;
  #executionId = '';
  #count = 0;

  constructor(options: RunEventsOptions) {
    this.#options = options;
  }

  identify(agentId: string, parentAgentId: string | null, executionId: string): void {
    this.#agentId = agentId;
    this.#parentAgentId = parentAgentId;
    this.#executionId = executionId;
  }

  /** Whether there is no listener at all. */
  get isSilent(): boolean {
    const { bus, wiretap, parent, outlet } = this.#options;
    if (outlet !== null) return false;
    return wiretap === undefined && bus.isSilent && (parent === null || parent.isSilent);
  }

  wants(type: AgentEventType): boolean {
    const { bus, wiretap, parent, outlet } = this.#options;
    return (
      wiretap !== undefined ||
      bus.wants(type) ||
      (parent === null ? outlet !== null && outlet.wants(type) : parent.wants(type))
    );
  }

  /** Emits an event. Call it only after `wants`; `index` is given for chunks, which have their own count. */
  emit<T extends AgentEventType>(type: T, fields: FieldsOf<T>, index?: number): void {
    const { outlet, now } = this.#options;
    const note: EventNote = {
      type,
      agentId: this.#agentId,
      parentAgentId: this.#parentAgentId,
      executionId: this.#executionId,
      index: index ?? this.#nextIndex(),
      at: isoTime(now()),
      fields,
    };
    if (outlet === null) return this.#deliver(eventOf(note));
    outlet.publish(note, () => {
      if (this.#hasListeners(type)) this.#deliver(eventOf(note));
    });
  }

  /** Whether a listener other than the outlet wants the type. */
  #hasListeners(type: AgentEventType): boolean {
    const { bus, wiretap, parent } = this.#options;
    return (
      wiretap !== undefined || bus.wants(type) || (parent !== null && parent.#hasListeners(type))
    );
  }

  redacted<T>(value: T): T {
    return this.#options.redactor.value(value);
  }

  #nextIndex(): number {
    const { parent } = this.#options;
    return parent === null ? this.#count++ : parent.#nextIndex();
  }

  #deliver(event: AgentEvent): void {
    const { bus, wiretap, parent } = this.#options;
    bus.emit(event);
    if (wiretap) notify(wiretap, event, event.type);
    if (parent) parent.#deliver(event);
  }
}
