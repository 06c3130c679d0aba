import type { PusherClient } from './pusher-source.ts';
import { channelSource, type ChannelOptions } from './channel-source.ts';
import type { EnvelopeSource } from './envelope-source.ts';

/** An instance of `laravel-echo` with a Pusher-protocol broadcaster, as far as it is used here. */
export interface EchoClient {
  readonly connector: {
    /** What Echo wraps, with `broadcaster: 'reverb'` or `'pusher'`. */
    readonly pusher: PusherClient;
  };
  private(channel: string): unknown;
  leaveChannel(channel: string): void;
}

export interface EchoSourceOptions extends ChannelOptions {
  readonly echo: EchoClient;
}

/**
 * Listens on `agent.{id}` with an Echo of yours, whose connection stays yours. The channel is left with the last source
 * on it, unless the page had joined it before or listens on it itself.
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
        // listeners on the channel itself can be taken off one by one, those on Echo's cannot
        return pusher.subscribe(name);
      },
      leave: () => echo.leaveChannel(name),
    };
  });
}
