import type { Agent, SessionRuntime, SessionStore } from 'onward';
import {
  broadcastSessions,
  channelOf,
  memoryBroadcaster,
  type BroadcastSessionsOptions,
  type Envelope,
  type MemoryBroadcaster,
  type SessionBroadcasts,
} from 'onward/broadcasting';
import { onTestFinished } from 'vitest';
import { runtimeOn } from '../setup/sessions.ts';

export interface BroadcastingProcess {
  readonly runtime: SessionRuntime;
  readonly broadcaster: MemoryBroadcaster;
  readonly broadcasts: SessionBroadcasts;
  /** All envelopes of a session, when everything is out. */
  sent(sessionId: string): Promise<readonly Envelope[]>;
}

/** A process: a runtime whose sessions are broadcast. */
export function processOn(
  store: SessionStore,
  agents: Agent | readonly Agent[],
  options: Partial<BroadcastSessionsOptions> = {},
): BroadcastingProcess {
  const broadcaster = memoryBroadcaster();
  const runtime = runtimeOn(store, agents);
  const broadcasts = broadcastSessions(runtime, { broadcaster, ...options });
  onTestFinished(() => void broadcasts.close(0));
  const sent = async (sessionId: string): Promise<readonly Envelope[]> => {
    await broadcasts.flush();
    return broadcaster.envelopes(channelOf(sessionId));
  };
  return { runtime, broadcaster, broadcasts, sent };
}
