import {
  AgentEventEnvelopeAdapter,
  memoryBroadcaster,
  type BroadcastConfig,
  type Envelope,
} from 'onward/broadcasting';
import type { EventListener } from '../../src/events/agent-event.ts';
import { EXECUTION, ofType, SESSION } from './live-run.ts';

export interface RecordedAdapter {
  readonly adapter: AgentEventEnvelopeAdapter;
  readonly tap: EventListener;
  /** Flushes the adapter and returns all sent envelopes. */
  sent(): Promise<readonly Envelope[]>;
}

export function adapterOn(
  options: { executionId?: string; after?: number; config?: BroadcastConfig } = {},
): RecordedAdapter {
  const broadcaster = memoryBroadcaster();
  const adapter = new AgentEventEnvelopeAdapter({
    broadcaster,
    sessionId: SESSION,
    executionId: EXECUTION,
    ...options,
  });
  const sent = async (): Promise<readonly Envelope[]> => {
    await adapter.flush();
    return broadcaster.envelopes();
  };
  return { adapter, sent, tap: adapter.wiretap() };
}

/** Returns the statuses in order. */
export const ends = (envelopes: readonly Envelope[]): string[] =>
  ofType(envelopes, 'agent.status').map(({ payload }) => payload.status);
