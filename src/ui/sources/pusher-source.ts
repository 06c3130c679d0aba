import {
  channelSource,
  sharedChannel,
  type ChannelOptions,
  type PusherConnection,
} from './channel-source.ts';
import type { EnvelopeSource } from './envelope-source.ts';

type Listener = (data: unknown) => void;

/** A channel of `pusher-js`, as far as it is used here. */
export interface PusherChannel {
  readonly subscribed: boolean;
  bind(event: string, callback: Listener): unknown;
  unbind(event: string, callback: Listener): unknown;
}

/** A client of `pusher-js`, as far as it is used here. */
export interface PusherClient {
  readonly connection: PusherConnection;
  channel(name: string): PusherChannel | undefined;
  subscribe(name: string): PusherChannel;
  unsubscribe(name: string): unknown;
}

export interface PusherSourceOptions extends ChannelOptions {
  readonly pusher: PusherClient;
}

/** Listens on `private-agent.{id}` with a `pusher-js` client of yours, whose connection stays yours. */
export function pusherSource(options: PusherSourceOptions): EnvelopeSource {
  const { pusher, sessionId } = options;
  const name = `private-agent.${sessionId}`;
  return channelSource(options, name, () => {
    const isLast = sharedChannel(pusher, name, pusher.channel(name) !== undefined);
    const channel = pusher.subscribe(name);
    const own: [string, Listener][] = [];
    const on = (event: string, callback: Listener): void => {
      own.push([event, callback]);
      channel.bind(event, callback);
    };
    return {
      connection: pusher.connection,
      isSubscribed: () => channel.subscribed,
      bind: (type, callback) => channel.bind(type, callback),
      unbind: (type, callback) => channel.unbind(type, callback),
      onSubscribed: (callback) => on('pusher:subscription_succeeded', () => callback()),
      onRefused: (callback) => on('pusher:subscription_error', callback),
      leave: () => {
        for (const [event, callback] of own) channel.unbind(event, callback);
        if (isLast()) pusher.unsubscribe(name);
      },
    };
  });
}
