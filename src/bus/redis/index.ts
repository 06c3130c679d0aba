import { invalidOption } from '../../errors/agent-error.ts';
import type { MessageBus } from '../message-bus.ts';
import { serverBus, type ServerBusOptions } from '../server-bus.ts';
import { explainFailure, isRefusal } from './redis-failures.ts';
import { redisLink } from './redis-link.ts';

export interface RedisBusOptions extends ServerBusOptions {
  /**
   * Address of the server: a URL such as `redis://user:password@host:6379`, or options of `new Redis(...)` of ioredis.
   * The bus handles reconnects itself. Default `redis://127.0.0.1:6379`.
   */
  readonly connection?: string | object;
}

/** Largest message in bytes. Redis accepts far more, but a large message delays other clients. */
const MAX_BYTES = 65_536;

/**
 * Creates a bus that uses PUBLISH and SUBSCRIBE of Redis, over two dedicated connections per process. Messages reach
 * all databases of a server, so each application on it needs its own `channel`. Every user with access to that channel
 * can read and send messages. Needs the package `ioredis`.
 */
export function redisBus(options: RedisBusOptions = {}): MessageBus {
  const { connection = 'redis://127.0.0.1:6379' } = options;
  const isGiven = typeof connection === 'string' || (typeof connection === 'object' && connection);
  if (!isGiven || (typeof connection === 'object' && 'duplicate' in connection))
    throw invalidOption(
      'redisBus({ connection })',
      connection,
      'a URL or options of ioredis, not a client',
    );
  return serverBus('redisBus', MAX_BYTES, options, (timeoutMs) => ({
    name: 'Redis',
    open: (channels, events) => redisLink({ connection, timeoutMs }, channels, events),
    isRefusal,
    explain: explainFailure,
  }));
}
