import { hmac, phpJson } from './pusher-signing.ts';

/** A client connection, as the channels see it. */
export interface Subscriber {
  readonly socketId: string;
  send(text: string): void;
}

interface Member {
  readonly user_id?: string | number;
  readonly user_info?: unknown;
}

/** The error that Reverb gives for input it cannot read. */
export class Malformed extends Error {}
export class Unauthorized extends Error {}

export interface Channels {
  subscribe(subscriber: Subscriber, data: Readonly<Record<string, unknown>>): void;
  unsubscribe(subscriber: Subscriber, channel: string): void;
  leave(subscriber: Subscriber): void;
  publish(channel: string, frame: Readonly<Record<string, unknown>>, exceptSocketId?: string): void;
  isMember(subscriber: Subscriber, channel: string): boolean;
  memberOf(subscriber: Subscriber, channel: string): Member | null;
  names(): readonly string[];
  size(channel: string): number;
  userIds(channel: string): readonly string[];
  /** Number of connections with at least one channel. Reverb counts only those. */
  connections(): number;
}

/** Reverb checks the prefix without the dash. Cache channels are not supported here. */
const isPrivate = (channel: string): boolean => channel.startsWith('private');
export const isPresence = (channel: string): boolean => channel.startsWith('presence');

export function openChannels(secret: string): Channels {
  const channels = new Map<string, Map<Subscriber, Member | null>>();
  const members = (channel: string): Member[] =>
    [...(channels.get(channel)?.values() ?? [])].filter((member) => member !== null);
  const idsOf = (channel: string): string[] => [
    ...new Set(members(channel).map(({ user_id }) => String(user_id))),
  ];

  const publish: Channels['publish'] = (channel, frame, except) => {
    const text = phpJson(frame);
    for (const subscriber of channels.get(channel)?.keys() ?? [])
      if (subscriber.socketId !== except) subscriber.send(text);
  };

  const notifyMembers = (channel: string, event: string, member: Member, except: string): void =>
    publish(channel, { event: `pusher_internal:${event}`, data: phpJson(member), channel }, except);

  /** One member without `user_info` breaks the channel for later members. */
  const here = (channel: string): string => {
    const hash: Record<string, unknown> = {};
    for (const member of members(channel)) {
      if (!('user_info' in member)) throw new Malformed();
      const { user_info: info } = member;
      const isEmpty = typeof info === 'object' && info !== null && Object.keys(info).length === 0;
      hash[String(member.user_id)] = isEmpty ? [] : info; // PHP writes empty arrays and objects the same way
    }
    const ids = Object.keys(hash);
    return phpJson({ presence: { count: ids.length, ids, hash: ids.length > 0 ? hash : [] } });
  };

  const unsubscribe = (subscriber: Subscriber, channel: string): void => {
    const subscribers = channels.get(channel);
    const member = subscribers?.get(subscriber);
    if (!subscribers?.delete(subscriber)) return;
    if (subscribers.size === 0) channels.delete(channel);
    if (member && !idsOf(channel).includes(String(member.user_id)))
      notifyMembers(channel, 'member_removed', { user_id: member.user_id ?? '' }, '');
  };

  return {
    publish,
    unsubscribe,
    subscribe(subscriber, { channel, auth, channel_data: channelData }) {
      if (typeof channel !== 'string' || channel === '') throw new Malformed();
      if (channelData !== undefined && typeof channelData !== 'string') throw new Malformed();
      if (isPrivate(channel) || isPresence(channel)) {
        const signed = [subscriber.socketId, channel];
        if (channelData !== undefined) signed.push(channelData);
        const given = typeof auth === 'string' ? auth : '';
        // Reverb checks only the part after the first colon, so a wrong key passes
        if (given.slice(given.indexOf(':') + 1) !== hmac(secret, signed.join(':')))
          throw new Unauthorized();
      }
      const member =
        isPresence(channel) && channelData !== undefined
          ? (JSON.parse(channelData) as Member)
          : null;
      const isNew = member !== null && !idsOf(channel).includes(String(member.user_id));
      const subscribers = channels.get(channel) ?? new Map<Subscriber, Member | null>();
      channels.set(channel, subscribers.set(subscriber, member));
      if (isNew) notifyMembers(channel, 'member_added', member, subscriber.socketId);
      const data = isPresence(channel) ? here(channel) : '{}';
      subscriber.send(phpJson({ event: 'pusher_internal:subscription_succeeded', data, channel }));
    },
    leave(subscriber) {
      for (const channel of channels.keys()) unsubscribe(subscriber, channel);
    },
    isMember: (subscriber, channel) => channels.get(channel)?.has(subscriber) ?? false,
    memberOf: (subscriber, channel) => channels.get(channel)?.get(subscriber) ?? null,
    names: () => [...channels.keys()],
    size: (channel) => channels.get(channel)?.size ?? 0,
    userIds: idsOf,
    connections: () => new Set([...channels.values()].flatMap((all) => [...all.keys()])).size,
  };
}
