import type { PusherClient } from './pusher-source.ts';
import { channelSource, type ChannelOptions } from './channel-source.ts';
import type { EnvelopeSource } from './envelope-source.ts';

/** The parts of a `laravel-echo` instance with a Pusher-protocol broadcaster that are used here. */
export interface EchoClient {
  readonly connector: {
    /** The client that Echo wraps, with `broadcaster: 'reverb'` or `'pusher'`. */
    readonly pusher: PusherClient;
  };
  private(channel: string): unknown;
  leaveChannel(channel: string): void;
}

export interface EchoSourceOptions extends ChannelOptions {
  readonly echo: EchoClient;
}

/**
 * Listens on `agent.{id}` with your Echo instance, whose connection it does not close. The last source leaves the
 * channel, unless the page had joined it before or listens on it itself.
 */
export function echoSource(options: EchoSourceOptions): EnvelopeSource {
  const { echo, sessionId } = options;
  const name = `private-agent.${sessionId}`;
  return channelSource(options, name, () => {
    const { pusher } = echo.connector;
    return {
      client: echo,
      connection: pusher.connection,
      isJoined: () => pusher.channel(name) !== undefined,
      join: () => {
        echo.private(`agent.${sessionId}`);
        // listeners on the channel can be removed one by one, those on Echo's channel cannot
        return pusher.subscribe(name);
      },
      leave: () => echo.leaveChannel(name),
    };
  });
}
