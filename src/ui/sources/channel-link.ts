import { isRecord } from '../../json.ts';

type Listener = (data: unknown) => void;

/** The connection of a Pusher client, as far as a source needs it. */
export interface PusherConnection {
  readonly state: string;
  bind(event: string, callback: Listener): unknown;
  unbind(event: string, callback: Listener): unknown;
}

/** A channel of `pusher-js`, as far as it is used here. */
export interface PusherChannel {
  readonly subscribed: boolean;
  /** It was asked for, and neither confirmed nor refused. */
  readonly subscriptionPending?: boolean;
  bind(event: string, callback: Listener): unknown;
  unbind(event: string, callback: Listener): unknown;
  /** Asks for it once more. */
  subscribe?(): void;
}

/** The client that holds a channel. */
export interface ChannelHost {
  /** Screens with the same client share its channels. */
  readonly client: object;
  readonly connection: PusherConnection;
  isJoined(): boolean;
  /** Subscribes, unless it is subscribed or about to be. The same object as long as it is joined. */
  join(): PusherChannel;
  leave(): void;
}

/** One screen's part in a private channel: what it bound is unbound when it leaves. */
export interface ChannelLink {
  readonly connection: PusherConnection;
  isSubscribed(): boolean;
  bind(event: string, callback: Listener): void;
  /** Asks for the subscription once more: pusher-js does not do so after a refusal, nor after silence. */
  rejoin(): void;
  leave(): void;
}

export function channelLink(name: string, host: ChannelHost): ChannelLink {
  const isLast = sharedChannel(host.client, name, host.isJoined());
  const bound: [string, Listener][] = [];
  let channel = host.join();
  const unbindAll = (): void => {
    for (const [event, callback] of bound) channel.unbind(event, callback);
  };
  return {
    connection: host.connection,
    isSubscribed: () => channel.subscribed,
    bind(event, callback) {
      bound.push([event, callback]);
      channel.bind(event, callback);
    },
    rejoin() {
      if (channel.subscribed && host.isJoined()) return;
      const isPending = channel.subscriptionPending === true;
      const joined = host.join();
      if (joined === channel) {
        if (isPending) channel.subscribe?.();
        return;
      }
      // the page has left the channel in the meantime
      unbindAll();
      channel = joined;
      for (const [event, callback] of bound) channel.bind(event, callback);
    },
    leave() {
      unbindAll();
      bound.length = 0;
      if (isLast() && !hasListeners(channel)) host.leave();
    },
  };
}

/** Whether the page listens on the channel itself: then it is not ours to leave. */
function hasListeners(channel: object): boolean {
  const { callbacks, global_callbacks: all } = channel as {
    readonly callbacks?: { readonly _callbacks?: unknown };
    readonly global_callbacks?: unknown;
  };
  const table = callbacks?._callbacks;
  const isUsed = (list: unknown): boolean => Array.isArray(list) && list.length > 0;
  return isUsed(all) || (isRecord(table) && Object.values(table).some(isUsed));
}

/** Two screens of one session share a channel: only the last one that leaves ends it. */
function sharedChannel(client: object, channel: string, wasJoined: boolean): () => boolean {
  const counts = holders.get(client) ?? new Map<string, number>();
  holders.set(client, counts);
  // a channel that the page had joined before is not ours to leave
  const before = counts.get(channel) ?? (wasJoined ? 1 : 0);
  counts.set(channel, before + 1);
  return () => {
    const left = (counts.get(channel) ?? 1) - 1;
    if (left > 0) counts.set(channel, left);
    else counts.delete(channel);
    return left <= 0;
  };
}

const holders = new WeakMap<object, Map<string, number>>();
