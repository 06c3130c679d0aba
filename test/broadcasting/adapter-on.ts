import type { EventListener } from 'onward';
import {
  AgentEventEnvelopeAdapter,
  memoryBroadcaster,
  type BroadcastConfig,
  type Envelope,
} from 'onward/broadcasting';
import { EXECUTION, ofType, SESSION } from './live-run.ts';

export interface HeardAdapter {
  readonly adapter: AgentEventEnvelopeAdapter;
  readonly tap: EventListener;
  /** All that was sent, when everything is out. */
  sent(): Promise<readonly Envelope[]>;
}

export function adapterOn(
  options: { executionId?: string; after?: number; config?: BroadcastConfig } = {},
): HeardAdapter {
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

/** The statuses, in their order. */
export const ends = (envelopes: readonly Envelope[]): string[] =>
  ofType(envelopes, 'agent.status').map(({ payload }) => payload.status);
