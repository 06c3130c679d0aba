import { isRecord } from '../../json.ts';

type Listener = (data: unknown) => void;

/** The parts of a Pusher client's connection that a source uses. */
export interface PusherConnection {
  readonly state: string;
  bind(event: string, callback: Listener): unknown;
  unbind(event: string, callback: Listener): unknown;
}

/** The parts of a `pusher-js` channel that are used here. */
export interface PusherChannel {
  readonly subscribed: boolean;
  /** Whether it is requested, and neither confirmed nor refused. */
  readonly subscriptionPending?: boolean;
  bind(event: string, callback: Listener): unknown;
  unbind(event: string, callback: Listener): unknown;
  /** Requests it once more. */
  subscribe?(): void;
}

/** The client that has the channel. */
export interface ChannelHost {
  /** Object that identifies the client: sources with the same one share its channels. */
  readonly client: object;
  readonly connection: PusherConnection;
  isJoined(): boolean;
  /** Subscribes, unless it is subscribed or pending. Returns the same object while it is joined. */
  join(): PusherChannel;
  leave(): void;
}

/** One source's part of a private channel: it unbinds its listeners when it leaves. */
export interface ChannelLink {
  readonly connection: PusherConnection;
  isSubscribed(): boolean;
  bind(event: string, callback: Listener): void;
  /** Requests the subscription again: pusher-js does not do so after a refusal or a timeout. */
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

/** Whether the page itself listens on the channel: then the source does not leave it. */
function hasListeners(channel: object): boolean {
  const { callbacks, global_callbacks: all } = channel as {
    readonly callbacks?: { readonly _callbacks?: unknown };
    readonly global_callbacks?: unknown;
  };
  const table = callbacks?._callbacks;
  const isUsed = (list: unknown): boolean => Array.isArray(list) && list.length > 0;
  return isUsed(all) || (isRecord(table) && Object.values(table).some(isUsed));
}

/** Returns a function that leaves the channel with the last source of a session. */
function sharedChannel(client: object, channel: string, wasJoined: boolean): () => boolean {
  const counts = holders.get(client) ?? new Map<string, number>();
  holders.set(client, counts);
  // the source does not leave a channel that the page had joined before
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
