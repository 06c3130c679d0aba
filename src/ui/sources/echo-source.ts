import {
  channelSource,
  sharedChannel,
  type ChannelOptions,
  type PusherConnection,
} from './channel-source.ts';
import type { EnvelopeSource } from './envelope-source.ts';

type Listener = (data: unknown) => void;

/** A private channel of `laravel-echo`, as far as it is used here. */
export interface EchoChannel {
  listen(event: string, callback: Listener): unknown;
  stopListening(event: string, callback: Listener): unknown;
  subscribed(callback: () => void): unknown;
  error(callback: Listener): unknown;
  /** What Echo wraps, with `broadcaster: 'reverb'` or `'pusher'`. */
  readonly subscription?: { readonly subscribed: boolean };
}

/** An instance of `laravel-echo` with a Pusher-protocol broadcaster, as far as it is used here. */
export interface EchoClient {
  readonly connector: {
    readonly pusher: { readonly connection: PusherConnection };
    readonly channels?: Readonly<Record<string, unknown>>;
  };
  private(channel: string): EchoChannel;
  leaveChannel(channel: string): void;
}

export interface EchoSourceOptions extends ChannelOptions {
  readonly echo: EchoClient;
}

/** Listens on `agent.{id}` with an Echo of yours, whose connection stays yours. */
export function echoSource(options: EchoSourceOptions): EnvelopeSource {
  const { echo, sessionId } = options;
  const name = `private-agent.${sessionId}`;
  return channelSource(options, name, () => {
    const { pusher, channels = {} } = echo.connector;
    const isLast = sharedChannel(echo, name, name in channels);
    const channel = echo.private(`agent.${sessionId}`);
    return {
      connection: pusher.connection,
      isSubscribed: () => channel.subscription?.subscribed === true,
      // the leading dot says that the name is whole: Echo adds no namespace
      bind: (type, callback) => channel.listen(`.${type}`, callback),
      unbind: (type, callback) => channel.stopListening(`.${type}`, callback),
      onSubscribed: (callback) => channel.subscribed(callback),
      onRefused: (callback) => channel.error(callback),
      leave: () => {
        if (isLast()) echo.leaveChannel(name);
      },
    };
  });
}
