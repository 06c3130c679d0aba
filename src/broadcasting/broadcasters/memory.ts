import { BroadcastError, type Broadcast, type Broadcaster } from '../broadcaster.ts';
import type { Envelope } from '../envelope.ts';
import { jsonBytes } from '../envelope-buffer.ts';

export interface MemoryBroadcasterOptions {
  /** Maximum envelopes to keep; the oldest are dropped. Default 10,000. */
  readonly keep?: number;
  /**
   * Maximum bytes of JSON in one call; a larger call is refused, as a transport with a limit does. Default: no limit.
   */
  readonly frameBytes?: number;
}

export interface MemoryBroadcaster extends Broadcaster {
  /** All envelopes that were sent, oldest first. */
  readonly sent: readonly Broadcast[];
  /** Returns the envelopes of one channel, or of all channels. */
  envelopes(channel?: string): readonly Envelope[];
  /**
   * Calls `listener` with each envelope that is sent to a channel from now on. Returns a function that unsubscribes.
   */
  subscribe(channel: string, listener: (envelope: Envelope) => void): () => void;
  clear(): void;
}

/** Keeps what was sent, for tests and for readers in the same process. */
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
      // wrap each listener, so that the same function added twice counts as two listeners
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
  new BroadcastError(`The call has ${bytes} bytes. This transport accepts at most ${most}.`, {
    retryable: false,
  });
