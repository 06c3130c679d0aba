import { BroadcastError, type Broadcast, type Broadcaster } from '../broadcaster.ts';
import type { Envelope } from '../envelope.ts';
import { jsonBytes } from '../envelope-buffer.ts';

export interface MemoryBroadcasterOptions {
  /** The newest that are kept. Default 10,000. */
  readonly keep?: number;
  /** Refuses a call with more bytes of JSON, as a transport with a limit does. */
  readonly frameBytes?: number;
}

export interface MemoryBroadcaster extends Broadcaster {
  /** What was sent, oldest first. */
  readonly sent: readonly Broadcast[];
  /** Of one channel, or of all. */
  envelopes(channel?: string): readonly Envelope[];
  /** Hears what is sent to a channel from now on. */
  subscribe(channel: string, listener: (envelope: Envelope) => void): () => void;
  clear(): void;
}

/** Keeps what was sent: for tests, and for readers in the same process. */
export function memoryBroadcaster(options: MemoryBroadcasterOptions = {}): MemoryBroadcaster {
  const { keep = 10_000, frameBytes } = options;
  const sent: Broadcast[] = [];
  const listeners = new Map<string, Set<(envelope: Envelope) => void>>();

  const take = (broadcast: Broadcast): void => {
    if (sent.push(broadcast) > keep) sent.shift();
    for (const listener of listeners.get(broadcast.channel) ?? []) listener(broadcast.envelope);
  };
  const check = (broadcasts: readonly Broadcast[]): void => {
    if (frameBytes === undefined) return;
    const bytes = broadcasts.reduce((sum, { envelope }) => sum + jsonBytes(envelope), 0);
    if (bytes > frameBytes) throw tooLarge(bytes, frameBytes);
  };

  return {
    name: 'memory',
    ...(frameBytes !== undefined && { frameBytes }),
    sent,
    envelopes: (channel) =>
      sent.flatMap((b) => (channel === undefined || b.channel === channel ? [b.envelope] : [])),
    subscribe(channel, listener) {
      // a wrapper each: the same function added twice is two listeners
      const own = (envelope: Envelope): void => listener(envelope);
      const ofChannel = listeners.get(channel) ?? new Set();
      listeners.set(channel, ofChannel.add(own));
      return () => {
        ofChannel.delete(own);
        if (ofChannel.size === 0 && listeners.get(channel) === ofChannel) listeners.delete(channel);
      };
    },
    clear() {
      sent.length = 0;
    },
    broadcast(channel, envelope, signal) {
      signal?.throwIfAborted();
      const broadcast = { channel, envelope };
      check([broadcast]);
      take(broadcast);
    },
    broadcastBatch(broadcasts, signal) {
      signal?.throwIfAborted();
      check(broadcasts);
      for (const broadcast of broadcasts) take(broadcast);
    },
  };
}

const tooLarge = (bytes: number, most: number): BroadcastError =>
  new BroadcastError(`The call has ${bytes} bytes, and this transport takes ${most}.`, {
    retryable: false,
  });
