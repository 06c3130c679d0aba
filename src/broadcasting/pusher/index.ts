import { BroadcastError, type Broadcast, type Broadcaster } from '../broadcaster.ts';
import { connectPusher } from './pusher-connection.ts';
import { eventBytes, pusherEvent } from './pusher-frame.ts';
import { mergedCalls } from './pusher-merge.ts';
import { checkedOptions, type PusherOptions } from './pusher-options.ts';

export type { PusherLike } from './pusher-connection.ts';
export type { PusherOptions } from './pusher-options.ts';
export {
  ownedSessions,
  pusherAuth,
  type AgentChannel,
  type ChannelAccess,
  type PusherAuthOptions,
} from './pusher-auth.ts';

/**
 * Publishes on `private-agent.{session_id}` of Laravel Reverb, hosted Pusher, soketi or any other Pusher-protocol
 * server, over the official SDK: `npm install pusher`.
 */
export function pusherBroadcaster(options: PusherOptions): Broadcaster {
  const settings = checkedOptions(options);
  const { frameBytes, batchSize } = settings;
  const connection = connectPusher(settings);

  const merged = mergedCalls({
    batchSize,
    frameBytes,
    bytesOf: eventBytes,
    async send(broadcasts, signal) {
      const bytes = broadcasts.reduce((sum, broadcast) => sum + eventBytes(broadcast), 0);
      await connection.send(broadcasts.map(pusherEvent), bytes + settings.fixedBytes, signal);
    },
  });
  const send = async (
    broadcasts: readonly Broadcast[],
    signal: AbortSignal | undefined,
  ): Promise<void> => {
    if (broadcasts.length === 0) return;
    const bytes = broadcasts.reduce((sum, broadcast) => sum + eventBytes(broadcast), 0);
    // a server may close the connection while it still receives a request that is too large, and
    // then its response is often lost
    if (bytes > frameBytes || broadcasts.length > batchSize)
      throw tooMuch(broadcasts, bytes, frameBytes, batchSize);
    await merged(broadcasts, signal);
  };

  return {
    name: 'pusher',
    frameBytes,
    batchSize,
    frameCost: eventBytes,
    ready: connection.ready,
    broadcast: (channel, envelope, signal) => send([{ channel, envelope }], signal),
    broadcastBatch: send,
  };
}

function tooMuch(
  broadcasts: readonly Broadcast[],
  bytes: number,
  frameBytes: number,
  batchSize: number,
): BroadcastError {
  const types = [...new Set(broadcasts.map(({ envelope }) => envelope.type))].join(', ');
  return new BroadcastError(
    `${broadcasts.length} envelopes (${types}) of ${bytes} bytes do not fit into one request: ` +
      `it has space for ${batchSize} envelopes and ${frameBytes} bytes. Shorten them or send them one by one; ` +
      'maxRequestBytes and batchSize set what the server accepts.',
    { retryable: false },
  );
}
