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
  /** Default: `BroadcastConfig.standard()`. */
  readonly config?: BroadcastSettings;
}

export interface SessionBroadcasts {
  readonly stats: BroadcastStats;
  /** Sessions that are at work here, or whose last envelopes are on their way. */
  readonly sessions: number;
  /** True when everything is out or given up, false when the time (5 seconds) was over before. */
  flush(timeoutMs?: number): Promise<boolean>;
  /** Hears no more, flushes, then gives up what is left. */
  close(timeoutMs?: number): Promise<boolean>;
}

interface Line {
  readonly queue: EnvelopeQueue;
  executionId: string;
  adapter: AgentEventEnvelopeAdapter;
  /** The run has ended or paused, or went elsewhere. */
  isOver: boolean;
}

/** A session that was taken over elsewhere says no more: beyond this many the oldest silent one is forgotten. */
const MOST_LINES = 10_000;
/** How often losses are logged at most, without a listener for them. */
const REPORT_MS = 60_000;

/** Broadcasts every session that this runtime works on. */
export function broadcastSessions(
  runtime: SessionRuntime,
  options: BroadcastSessionsOptions,
): SessionBroadcasts {
  const { broadcaster, config = BroadcastConfig.standard() } = options;
  const lines = new Map<string, Line>();
  const past = { sent: 0, dropped: 0, retried: 0, failed: 0 };
  let reportedAt = Number.NEGATIVE_INFINITY;
  // what the transport needs is loaded now, and not with the first run
  TransportGate.of(broadcaster, options.onTransport ?? reportChange);

  /** What still waits is given up. */
  const letGo = (sessionId: string, line: Line): void => {
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
      // a pause was told already
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
    if (lines.size >= MOST_LINES) forgetOldest(lines, letGo);
    const onDrop = report(channelOf(sessionId));
    const queue = queueFor({ onDrop, ...options, config, sessionId });
    const adapter = adapterFor(sessionId, executionId, queue);
    const line = { queue, executionId, adapter, isOver: false };
    lines.set(sessionId, line);
    return line;
  };

  const hear = (told: SessionEvent): void => {
    const { sessionId, seq, event } = told;
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
      if (line.isOver) letGo(sessionId, line);
    };
    line.queue.whenEmpty(leave);
  };
  const unsubscribe = runtime.wiretap(hear);

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

/** Whether this is the last event of a run of the root agent here, also where another worker continues it. */
const isLast = ({ type, parentAgentId }: AgentEvent): boolean =>
  parentAgentId === null &&
  (type === 'AgentFinished' || type === 'AgentFailed' || type === 'AgentPaused');

function forgetOldest(
  lines: ReadonlyMap<string, Line>,
  letGo: (sessionId: string, line: Line) => void,
): void {
  for (const [sessionId, line] of lines) if (line.queue.isEmpty) return letGo(sessionId, line);
  for (const [sessionId, line] of lines) if (line.isOver) return letGo(sessionId, line);
}
