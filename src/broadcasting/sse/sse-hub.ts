import { systemClock, type Clock } from '../../clock.ts';
import { AgentError, positive, whole } from '../../errors/agent-error.ts';
import { channelOf, type Envelope } from '../envelope.ts';
import type { Broadcast, Broadcaster } from '../broadcaster.ts';
import { SseFeeds, type SseFeedOptions } from './sse-feeds.ts';
import { checkType, heartbeat, retryLine } from './sse-frame.ts';
import { SseReader } from './sse-reader.ts';
import { SseSession } from './sse-session.ts';
import type { SseStream } from './sse-stream.ts';

export interface SseHubOptions {
  /** Bytes that may wait for a slow client; beyond that, it continues from the log. Default 64 KiB. */
  readonly bufferBytes?: number;
  /**
   * Milliseconds between heartbeats. Default 15,000. A client that reads nothing for three heartbeats is disconnected
   * and may reconnect.
   */
  readonly heartbeatMs?: number;
  /** Milliseconds that a client waits before it reconnects, with jitter. Default 2,000. */
  readonly retryMs?: number;
  /** Maximum connections of this process; further ones are refused. Default 10,000. */
  readonly maxReaders?: number;
  /** How often the log is polled for work of other processes; false if there are none. Default 250 ms and 2 s. */
  readonly tail?: Partial<SseTailTimes> | false;
  /** Called when the log cannot be read: the stream has ended, or the next poll tries again. Default: only counted. */
  readonly onError?: (error: unknown) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export interface SseCounters {
  readonly readers: number;
  readonly sessions: number;
  /** How often a slow client had to continue from the log. */
  readonly behind: number;
  /** Clients that were disconnected because they read nothing. */
  readonly slow: number;
  /** Failed reads of the log. Each ended a stream or was retried. */
  readonly failed: number;
}

export interface SseOpenOptions {
  /** Feed that the client reads. Without it, a client gets only what is broadcast to the hub from now on. */
  readonly feed?: SseFeedOptions;
  readonly signal?: AbortSignal | null;
}

/** How often the store is polled for work of another process. */
export interface SseTailTimes {
  /** Milliseconds while another process runs the session. Default 250. */
  readonly busyMs: number;
  /** Milliseconds while no process or this process runs it. Default 2,000. */
  readonly idleMs: number;
}

/** A broadcaster for server-sent events to the clients that are connected to this process. */
export interface SseHub extends Broadcaster {
  readonly counters: SseCounters;
  broadcast(channel: string, envelope: Envelope, signal?: AbortSignal): void;
  broadcastBatch(broadcasts: readonly Broadcast[], signal?: AbortSignal): void;
  /** Opens a stream of server-sent events. Check first that the client may read the session. */
  open(sessionId: string, options?: SseOpenOptions): Promise<ReadableStream<Uint8Array>>;
  /** Polls the log of a session now, for example after `send` if another process runs it. */
  wake(sessionId: string): void;
  /** Ends all streams, so that a server can close. Clients reconnect to another process. */
  close(): void;
}

/** Maximum characters of unfinished text to keep, for clients that join late: of one session, and of all sessions. */
const MAX_CHARS_EACH = 0x40000;
const MAX_CHARS = 0x2000000;

/** Creates a broadcaster that sends to the event streams of this process. */
export function sseHub(options: SseHubOptions = {}): SseHub {
  const { clock = systemClock, random = Math.random, tail: tailOption = {} } = options;
  const bufferBytes = whole('sseHub bufferBytes', options.bufferBytes ?? 65_536);
  const heartbeatMs = positive('sseHub heartbeatMs', options.heartbeatMs ?? 15_000);
  const retryMs = positive('sseHub retryMs', options.retryMs ?? 2_000);
  const maxReaders = whole('sseHub maxReaders', options.maxReaders ?? 10_000);
  const times = tailOption === false ? null : tailTimes(tailOption);
  const sessions = new Map<string, SseSession>();
  const streams = new Set<SseStream>();
  const counts = { behind: 0, slow: 0, failed: 0 };
  const meter = { used: 0, maxEach: MAX_CHARS_EACH };
  let isClosed = false;
  let stopBeating: (() => void) | null = null;

  const failed = (error: unknown): void => {
    counts.failed += 1;
    options.onError?.(error);
  };
  const feeds = new SseFeeds({
    bufferBytes,
    polling: times && { ...times, clock, failed },
    behind: () => {
      counts.behind += 1;
    },
    failed,
  });
  const host = {
    bufferBytes,
    slow: (): void => {
      counts.slow += 1;
    },
    left: (session: SseSession): void => release(session),
  };

  const sessionOf = (channel: string): SseSession => {
    let session = sessions.get(channel);
    if (!session) {
      session = new SseSession(channel, host, meter);
      sessions.set(channel, session);
    }
    return session;
  };

  /** Whether no client reads it and no text is unfinished. */
  const release = ({ readers, unfinished, channel }: SseSession): void => {
    if (readers.size === 0 && unfinished.isEmpty) sessions.delete(channel);
  };

  /** Drops the oldest unfinished text: a run that another process took over never ends here. */
  const makeSpace = (): void => {
    for (const session of sessions.values()) {
      if (meter.used <= MAX_CHARS) return;
      if (session.readers.size > 0) continue;
      session.unfinished.clear();
      release(session);
    }
  };

  const beat = (): void => {
    for (const stream of streams)
      if (!stream.beat(heartbeat)) {
        counts.slow += 1;
        stream.drop();
      }
    stopBeating = clock.after(heartbeatMs, beat);
  };

  const publish = (channel: string, envelope: Envelope): SseSession => {
    const session = sessionOf(channel);
    session.publish(envelope);
    if (meter.used > MAX_CHARS) makeSpace();
    if (session.readers.size === 0) release(session);
    return session;
  };

  const add = (stream: SseStream): void => {
    streams.add(stream);
    stopBeating ??= clock.after(heartbeatMs, beat);
    stream.onEnd(() => {
      streams.delete(stream);
      if (streams.size > 0) return;
      stopBeating?.();
      stopBeating = null;
    });
  };

  const openPlain = (channel: string): SseStream => {
    const session = sessionOf(channel);
    const reader = new SseReader(session);
    session.readers.add(reader);
    return reader.stream;
  };

  return {
    name: 'sse',
    get counters() {
      return { readers: streams.size, sessions: sessions.size + feeds.size, ...counts };
    },
    broadcast(channel, envelope, signal) {
      signal?.throwIfAborted();
      checkType(envelope);
      if (isClosed) return;
      publish(channel, envelope).flush();
    },
    broadcastBatch(broadcasts, signal) {
      signal?.throwIfAborted();
      for (const { envelope } of broadcasts) checkType(envelope);
      if (isClosed) return;
      const touched = new Set(
        broadcasts.map(({ channel, envelope }) => publish(channel, envelope)),
      );
      for (const session of touched) session.flush();
    },
    async open(sessionId, { feed, signal } = {}) {
      if (isClosed || streams.size >= maxReaders) throw noSpace(isClosed, maxReaders);
      signal?.throwIfAborted();
      const reader = feed ? feeds.open(sessionId, feed) : null;
      const stream = reader ? reader.stream : openPlain(channelOf(sessionId));
      add(stream);
      stream.writeFirst(retryLine(retryMs * (0.5 + random())));
      const leave = (): void => stream.drop();
      signal?.addEventListener('abort', leave, { once: true });
      try {
        await reader?.started;
        signal?.throwIfAborted();
      } catch (error) {
        leave();
        throw error;
      }
      return stream.body;
    },
    wake(sessionId) {
      feeds.wake(sessionId);
    },
    close() {
      isClosed = true;
      for (const stream of Array.from(streams)) stream.end();
      sessions.clear();
    },
  };
}

function tailTimes({ busyMs = 250, idleMs = 2_000 }: Partial<SseTailTimes>): SseTailTimes {
  return {
    busyMs: positive('sseHub tail.busyMs', busyMs),
    idleMs: positive('sseHub tail.idleMs', idleMs),
  };
}

const noSpace = (isClosed: boolean, maxReaders: number): AgentError =>
  isClosed
    ? new AgentError('runtime_closed', 'This hub is closed and accepts no more readers.')
    : new AgentError(
        'queue_full',
        `This hub has ${maxReaders} readers already. Raise maxReaders, or add a process.`,
        { details: { maxReaders } },
      );
