import { isoTime, systemClock } from '../clock.ts';
import type { FeedWorker } from '../sessions/feed/live-source.ts';
import type { EnvelopeOf } from './envelope.ts';

/** Creates the notice that a session lost its worker or has one again. It has no number and is not in the log. */
export const workerNotice = (
  sessionId: string,
  agentId: string,
  { executionId, isLost }: Pick<FeedWorker, 'executionId' | 'isLost'>,
): EnvelopeOf<'agent.worker'> => ({
  type: 'agent.worker',
  session_id: sessionId,
  execution_id: executionId,
  agent_id: agentId,
  seq: null,
  prev: null,
  timestamp: isoTime(systemClock.now()),
  payload: { status: isLost ? 'lost' : 'found' },
});
