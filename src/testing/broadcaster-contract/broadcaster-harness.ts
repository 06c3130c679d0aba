import type { Broadcaster } from '../../broadcasting/broadcaster.ts';
import type { Envelope } from '../../broadcasting/envelope.ts';

/** Returns everything that has arrived on a channel, in order, after waiting until it must have arrived. */
export type ChannelReader = () => readonly Envelope[] | Promise<readonly Envelope[]>;

/** A broadcaster with a receiver at the other end. */
export interface BroadcasterHarness {
  readonly broadcaster: Broadcaster;
  /** Starts to read a channel. */
  read(channel: string): ChannelReader | Promise<ChannelReader>;
  /** Breaks the transport until the returned function is called: it answers with an error, or not at all. */
  breakdown?(kind: 'error' | 'hang'): (() => void) | Promise<() => void>;
}
