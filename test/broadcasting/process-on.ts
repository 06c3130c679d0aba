import type { Agent, SessionRuntime } from 'onward';
import type { SessionStore } from 'onward/stores';
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
  /** Flushes and returns all envelopes of a session. */
  sent(sessionId: string): Promise<readonly Envelope[]>;
}

/** Creates a runtime that broadcasts its sessions, like one process. */
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
