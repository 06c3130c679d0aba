import { logStack } from '../errors/log-text.ts';
import { isRecord } from '../json.ts';
import type { AgentEvent, AgentEventType, EventListener, EventOf } from './agent-event.ts';

export interface EventBus {
  on<T extends AgentEventType>(type: T, listener: EventListener<EventOf<T>>): () => void;
  wiretap(listener: EventListener): () => void;
  /** Whether an event of this type has a listener: check before creating one. */
  wants(type: AgentEventType): boolean;
  readonly isSilent: boolean;
  emit(event: AgentEvent): void;
}

export function createEventBus(): EventBus {
  const byType = new Map<AgentEventType, Set<EventListener<never>>>();
  const wiretaps = new Set<EventListener>();
  return {
    on(type, listener): () => void {
      const listeners = byType.get(type) ?? new Set();
      byType.set(type, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        // a second call must not remove listeners that were added later
        if (listeners.size === 0 && byType.get(type) === listeners) byType.delete(type);
      };
    },
    wiretap(listener): () => void {
      wiretaps.add(listener);
      return () => wiretaps.delete(listener);
    },
    wants: (type) => wiretaps.size > 0 || byType.has(type),
    get isSilent() {
      return wiretaps.size === 0 && byType.size === 0;
    },
    emit(event): void {
      const listeners = byType.get(event.type);
      if (listeners)
        for (const listener of listeners) notify(listener as EventListener, event, event.type);
      for (const listener of wiretaps) notify(listener, event, event.type);
    },
  };
}

/** Reports a listener that throws or rejects; it never changes the run. */
export function notify<E>(listener: EventListener<E>, event: E, type: AgentEventType): void {
  try {
    const returned: unknown = listener(event);
    if (isThenable(returned)) Promise.resolve(returned).catch((e: unknown) => report(type, e));
  } catch (error) {
    report(type, error);
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  isRecord(value) && typeof value['then'] === 'function';

function report(type: AgentEventType, error: unknown): void {
  console.error(
    `onward: a listener for ${type} threw; the run continues without it. ${logStack(error)}`,
  );
}
