import { systemClock, type Clock } from '../../clock.ts';
import { AgentError, positive, whole } from '../../errors/agent-error.ts';
import { channelOf, type Envelope } from '../envelope.ts';
import type { Broadcast, Broadcaster } from '../broadcaster.ts';
import { checkType, heartbeat, retryLine, type SsePlace } from './sse-frame.ts';
import { SseReader, type SseLog } from './sse-reader.ts';
import { SseSession } from './sse-session.ts';
import { SseTail, type SseTailTimes } from './sse-tail.ts';

export interface SseHubOptions {
  /** Bytes that wait for a client that is slow; when it has taken them, it reads on in the log. Default 64 KiB. */
  readonly bufferBytes?: number;
  /** Default 15 seconds. A client that takes nothing over three of them is let go, and may come back. */
  readonly heartbeatMs?: number;
  /** How long a client waits before it comes back; spread, so that not all come at once. Default 2 seconds. */
  readonly retryMs?: number;
  /** Connections of this process; one more is refused. Default 10,000. */
  readonly maxReaders?: number;
  /** How often the log is looked at for work of other processes; false if there are none. Default 250 ms and 2 s. */
  readonly tail?: Partial<SseTailTimes> | false;
  /** A log that could not be read: the stream has ended, or the next look tries again. Default: only counted. */
  readonly onError?: (error: unknown) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export interface SseCounters {
  readonly readers: number;
  readonly sessions: number;
  /** How often a slow client was sent back to the log. */
  readonly behind: number;
  /** Clients that were let go because they took nothing. */
  readonly slow: number;
  /** Reads of the log that failed: each ended a stream, or was tried again. */
  readonly failed: number;
}

export interface SseOpenOptions {
  /** Where a client that was away is refilled from. Without it, a client hears only what happens from now on. */
  readonly log?: SseLog;
  /** Up to where the client knows the log, 'lost' where it cannot tell. Absent: the newest execution is told whole. */
  readonly place?: SsePlace | 'lost' | null;
  /** Whether somebody works on the session. */
  readonly isBusy?: boolean;
  readonly signal?: AbortSignal | null;
}

/** The broadcaster for server-sent events: it knows the clients that are connected to this process. */
export interface SseHub extends Broadcaster {
  readonly counters: SseCounters;
  broadcast(channel: string, envelope: Envelope, signal?: AbortSignal): void;
  broadcastBatch(broadcasts: readonly Broadcast[], signal?: AbortSignal): void;
  /** A stream of server-sent events. Whoever calls this has checked that the client may read the session. */
  open(sessionId: string, options?: SseOpenOptions): Promise<ReadableStream<Uint8Array>>;
  /** Looks at the log of a session now: after `send`, where another process does the work. */
  wake(sessionId: string): void;
  /** Ends all streams, so that a server can close; clients come back to another process. */
  close(): void;
}

/** Text that is being made is kept for those who come in the middle: so much of one session, so much of all. */
const MOST_CHARS_EACH = 0x40000;
const MOST_CHARS = 0x2000000;

interface Entry {
  readonly session: SseSession;
  tail: SseTail | null;
}

/** A broadcaster whose listeners are event streams of this process. */
export function sseHub(options: SseHubOptions = {}): SseHub {
  const { clock = systemClock, random = Math.random, tail: tailOption = {} } = options;
  const bufferBytes = whole('sseHub bufferBytes', options.bufferBytes ?? 65_536);
  const heartbeatMs = positive('sseHub heartbeatMs', options.heartbeatMs ?? 15_000);
  const retryMs = positive('sseHub retryMs', options.retryMs ?? 2_000);
  const maxReaders = whole('sseHub maxReaders', options.maxReaders ?? 10_000);
  const times = tailOption === false ? null : tailTimes(tailOption);
  const entries = new Map<string, Entry>();
  let readers = 0;
  let behind = 0;
  let slow = 0;
  let failed = 0;
  const meter = { used: 0, mostEach: MOST_CHARS_EACH };
  let isClosed = false;
  let stopBeating: (() => void) | null = null;

  const count = (error: unknown): void => {
    failed += 1;
    options.onError?.(error);
  };
  const host = {
    bufferBytes,
    failed: count,
    behind: (): void => {
      behind += 1;
    },
    slow: (): void => {
      slow += 1;
    },
    left: (session: SseSession): void => {
      readers -= 1;
      if (readers === 0) {
        stopBeating?.();
        stopBeating = null;
      }
      if (session.readers.size > 0) return;
      const entry = entries.get(session.channel);
      entry?.tail?.stop();
      if (entry) entry.tail = null;
      release(session);
    },
  };

  const entryOf = (channel: string): Entry => {
    let entry = entries.get(channel);
    if (!entry) {
      entry = { session: new SseSession(channel, host, meter), tail: null };
      entries.set(channel, entry);
    }
    return entry;
  };

  /** Nobody reads it, and nothing is being said. */
  const release = ({ readers: all, unfinished, channel }: SseSession): void => {
    if (all.size === 0 && unfinished.isEmpty) entries.delete(channel);
  };

  /** A run that another process took over never ends here: what it had said is forgotten, oldest first. */
  const makeRoom = (): void => {
    for (const { session } of entries.values()) {
      if (meter.used <= MOST_CHARS) return;
      if (session.readers.size > 0) continue;
      session.unfinished.clear();
      release(session);
    }
  };

  const beat = (): void => {
    for (const { session } of entries.values())
      for (const reader of session.readers) reader.beat(heartbeat);
    stopBeating = clock.after(heartbeatMs, beat);
  };

  const publish = (channel: string, envelope: Envelope): SseSession => {
    const { session } = entryOf(channel);
    session.publish(envelope, true);
    if (meter.used > MOST_CHARS) makeRoom();
    if (session.readers.size === 0) release(session);
    return session;
  };

  return {
    name: 'sse',
    get counters() {
      return { readers, sessions: entries.size, behind, slow, failed };
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
    async open(sessionId, { log, place = null, isBusy = false, signal } = {}) {
      if (isClosed || readers >= maxReaders) throw noRoom(isClosed, maxReaders);
      const entry = entryOf(channelOf(sessionId));
      const { session } = entry;
      if (!session.isReached) session.isBusy ||= isBusy;
      const reader = new SseReader(session, log ?? null, place);
      session.readers.add(reader);
      readers += 1;
      const { stream } = reader;
      stream.write(retryLine(retryMs * (0.5 + random())));
      const leave = (): void => stream.drop();
      signal?.addEventListener('abort', leave, { once: true });
      stopBeating ??= clock.after(heartbeatMs, beat);
      try {
        signal?.throwIfAborted();
        await reader.fill();
      } catch (error) {
        leave();
        throw error;
      }
      if (log && times && !stream.isEnded)
        entry.tail ??= new SseTail(session, log, { clock, times, failed: count });
      return stream.body;
    },
    wake(sessionId) {
      entries.get(channelOf(sessionId))?.tail?.wake();
    },
    close() {
      isClosed = true;
      for (const { session } of Array.from(entries.values())) session.end();
      entries.clear();
    },
  };
}

function tailTimes({ busyMs = 250, idleMs = 2_000 }: Partial<SseTailTimes>): SseTailTimes {
  return {
    busyMs: positive('sseHub tail.busyMs', busyMs),
    idleMs: positive('sseHub tail.idleMs', idleMs),
  };
}

const noRoom = (isClosed: boolean, maxReaders: number): AgentError =>
  isClosed
    ? new AgentError('runtime_closed', 'This hub was closed and takes no more readers.')
    : new AgentError(
        'queue_full',
        `This hub has ${maxReaders} readers already. Raise maxReaders, or add a process.`,
        { details: { maxReaders } },
      );
