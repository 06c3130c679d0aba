import type { PusherChannel, PusherConnection } from './channel-link.ts';
import { channelSource, type ChannelOptions } from './channel-source.ts';
import type { EnvelopeSource } from './envelope-source.ts';

/** The parts of a `pusher-js` client that are used here. */
export interface PusherClient {
  readonly connection: PusherConnection;
  channel(name: string): PusherChannel | undefined;
  subscribe(name: string): PusherChannel;
  unsubscribe(name: string): unknown;
}

export interface PusherSourceOptions extends ChannelOptions {
  readonly pusher: PusherClient;
}

/**
 * Listens on `private-agent.{id}` with your `pusher-js` client, whose connection it does not close. The last source
 * leaves the channel, unless the page had joined it before or listens on it itself.
 */
export function pusherSource(options: PusherSourceOptions): EnvelopeSource {
  const { pusher, sessionId } = options;
  const name = `private-agent.${sessionId}`;
  return channelSource(options, name, () => ({
    client: pusher,
    connection: pusher.connection,
    isJoined: () => pusher.channel(name) !== undefined,
    join: () => pusher.subscribe(name),
    leave: () => pusher.unsubscribe(name),
  }));
}
