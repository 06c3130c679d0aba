import type { AgentEvent } from '../events/agent-event.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { SessionEvent } from '../sessions/session-worker.ts';
import { BroadcastConfig, type BroadcastSettings } from './broadcast-config.ts';
import type { Broadcaster } from './broadcaster.ts';
import { channelOf } from './envelope.ts';
import { AgentEventEnvelopeAdapter, queueFor } from './envelope-adapter.ts';
import { reportChange, reportDrop, type Drop } from './delivery-reports.ts';
import type { BroadcastStats, DeliveryOptions, EnvelopeQueue } from './envelope-queue.ts';
import { refusesAll, TransportGate } from './transport-gate.ts';

export interface BroadcastSessionsOptions extends DeliveryOptions {
  readonly broadcaster: Broadcaster;
  /** Which envelopes are sent. Default: `BroadcastConfig.standard()`. */
  readonly config?: BroadcastSettings;
}

export interface SessionBroadcasts {
  readonly stats: BroadcastStats;
  /** Number of sessions that run here or still have envelopes to send. */
  readonly sessions: number;
  /** Resolves with true when every envelope is sent or dropped, with false after `timeoutMs` (default 5 seconds). */
  flush(timeoutMs?: number): Promise<boolean>;
  /** Stops listening, flushes, then drops what is left. */
  close(timeoutMs?: number): Promise<boolean>;
}

interface Line {
  readonly queue: EnvelopeQueue;
  executionId: string;
  adapter: AgentEventEnvelopeAdapter;
  /** Whether the run has ended, paused or moved to another worker. */
  isOver: boolean;
}

/**
 * Limit of tracked sessions. A session that another worker took over emits nothing more, so the oldest idle one is
 * dropped.
 */
const MAX_SESSIONS = 10_000;
/** Shortest interval between two log lines about dropped envelopes, if `onDrop` is not set. */
const REPORT_MS = 60_000;

/** Broadcasts every session that this runtime runs. */
export function broadcastSessions(
  runtime: SessionRuntime,
  options: BroadcastSessionsOptions,
): SessionBroadcasts {
  const { broadcaster, config = BroadcastConfig.standard() } = options;
  const lines = new Map<string, Line>();
  const past = { sent: 0, dropped: 0, retried: 0, failed: 0 };
  let reportedAt = Number.NEGATIVE_INFINITY;
  // load what the transport needs now, not with the first run
  TransportGate.of(broadcaster, options.onTransport ?? reportChange);

  /** Drops the session and the envelopes that still wait. */
  const dropSession = (sessionId: string, line: Line): void => {
    if (lines.get(sessionId) !== line) return;
    lines.delete(sessionId);
    line.queue.abandon();
    const { sent, dropped, retried, failed } = line.queue.stats;
    past.sent += sent;
    past.dropped += dropped;
    past.retried += retried;
    past.failed += failed;
  };

  const report =
    (channel: string) =>
    (drop: Drop): void => {
      // the gate has reported the pause
      if (refusesAll(drop.error) || performance.now() - reportedAt < REPORT_MS) return;
      reportedAt = performance.now();
      reportDrop(drop, { broadcaster, channel });
    };
  const adapterFor = (
    sessionId: string,
    executionId: string,
    queue: EnvelopeQueue,
  ): AgentEventEnvelopeAdapter =>
    new AgentEventEnvelopeAdapter({ broadcaster, sessionId, executionId, config }, queue);
  const open = (sessionId: string, executionId: string): Line => {
    if (lines.size >= MAX_SESSIONS) dropOldest(lines, dropSession);
    const onDrop = report(channelOf(sessionId));
    const queue = queueFor({ onDrop, ...options, config, sessionId });
    const adapter = adapterFor(sessionId, executionId, queue);
    const line = { queue, executionId, adapter, isOver: false };
    lines.set(sessionId, line);
    return line;
  };

  const onEvent = (sessionEvent: SessionEvent): void => {
    const { sessionId, seq, event } = sessionEvent;
    const { executionId } = event;
    const line = lines.get(sessionId) ?? open(sessionId, executionId);
    if (line.executionId !== executionId) {
      line.executionId = executionId;
      line.adapter = adapterFor(sessionId, executionId, line.queue);
    }
    line.adapter.send(event, seq);
    line.isOver = isLast(event);
    if (!line.isOver) return;
    const leave = (): void => {
      if (line.isOver) dropSession(sessionId, line);
    };
    line.queue.whenEmpty(leave);
  };
  const unsubscribe = runtime.wiretap(onEvent);

  const all = async (work: (queue: EnvelopeQueue) => Promise<boolean>): Promise<boolean> => {
    const done = await Promise.all(Array.from(lines.values(), ({ queue }) => work(queue)));
    return done.every(Boolean);
  };
  return {
    get stats() {
      const sum = { queued: 0, ...past };
      for (const { queue } of lines.values()) {
        const stats = queue.stats;
        for (const name of Object.keys(sum) as (keyof BroadcastStats)[]) sum[name] += stats[name];
      }
      return sum;
    },
    get sessions() {
      return lines.size;
    },
    flush: (timeoutMs) => all((queue) => queue.flush(timeoutMs)),
    close(timeoutMs) {
      unsubscribe();
      return all((queue) => queue.close(timeoutMs));
    },
  };
}

/** Whether this is the last event of the root agent's run in this process. Another worker may continue the run. */
const isLast = ({ type, parentAgentId }: AgentEvent): boolean =>
  parentAgentId === null &&
  (type === 'AgentFinished' || type === 'AgentFailed' || type === 'AgentPaused');

function dropOldest(
  lines: ReadonlyMap<string, Line>,
  dropSession: (sessionId: string, line: Line) => void,
): void {
  for (const [sessionId, line] of lines)
    if (line.queue.isEmpty) return dropSession(sessionId, line);
  for (const [sessionId, line] of lines) if (line.isOver) return dropSession(sessionId, line);
}
