import { packageMissing } from '../bus-errors.ts';
import type { BusChannels, BusLink, LinkEvents } from '../bus-server.ts';
import { settledWithin } from '../deadline.ts';

/** The part of a `Redis` of ioredis that the bus uses. */
interface RedisClient {
  readonly status: string;
  connect(): Promise<unknown>;
  subscribe(...channels: string[]): Promise<unknown>;
  ping(): Promise<unknown>;
  pipeline(commands: unknown[][]): {
    exec(): Promise<[error: Error | null, result: unknown][] | null>;
  };
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'message', listener: (channel: string, payload: string) => void): unknown;
  disconnect(): void;
}

export interface LinkOptions {
  /** A URL, or options of ioredis. */
  readonly connection: string | object;
  readonly timeoutMs: number;
}

/** How long a connection may take to end by itself, in milliseconds. */
const END_MS = 500;

/**
 * Listens on one connection and publishes on another, because Redis allows no other commands on a subscribed
 * connection.
 */
export function redisLink(
  options: LinkOptions,
  { all, own }: BusChannels,
  { received, broken }: LinkEvents,
): BusLink {
  const ends: Promise<void>[] = [];
  const clients: RedisClient[] = [];
  let isClosed = false;

  const open = async (): Promise<{
    readonly listener: RedisClient;
    readonly publisher: RedisClient;
  }> => {
    const make = await loaded(options);
    const connect = async (): Promise<RedisClient> => {
      const client = make();
      clients.push(client);
      ends.push(new Promise((resolve) => client.on('end', resolve)));
      client.on('error', broken);
      client.on('end', () => broken(new Error('the connection ended')));
      await client.connect();
      return client;
    };
    if (isClosed) throw new Error('the bus was closed');
    const [listener, publisher] = await Promise.all([connect(), connect()]);
    listener.on('message', (_channel, payload) => received(payload));
    await listener.subscribe(all, own);
    return { listener, publisher };
  };

  const opened = open();
  return {
    ready: opened.then(() => {}),
    async publish(messages) {
      const { publisher } = await opened;
      const commands = messages.map(({ channel, payload }) => ['publish', channel, payload]);
      const replies = await publisher.pipeline(commands).exec();
      for (const [error] of replies ?? []) if (error) throw error;
    },
    async ping() {
      const { listener, publisher } = await opened;
      await Promise.all([listener.ping(), publisher.ping()]);
    },
    async close() {
      isClosed = true;
      for (const client of clients) client.disconnect();
      await settledWithin(Promise.all(ends), 2 * END_MS);
    },
  };
}

/**
 * Loads ioredis and returns a factory for clients. They neither reconnect nor queue commands, because a link is used
 * until it breaks.
 */
async function loaded({ connection, timeoutMs }: LinkOptions): Promise<() => RedisClient> {
  const { Redis } = await import('ioredis').catch((cause: unknown) => {
    throw packageMissing('Redis', 'ioredis', cause);
  });
  const ours = {
    lazyConnect: true,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
    reconnectOnError: null,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    connectTimeout: timeoutMs,
    disconnectTimeout: END_MS,
    keepAlive: 10_000,
    connectionName: 'onward-bus',
  };
  return () =>
    typeof connection === 'string'
      ? new Redis(connection, ours)
      : new Redis({ ...connection, ...ours });
}
