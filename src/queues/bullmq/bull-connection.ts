import { AgentError, invalidOption } from '../../errors/agent-error.ts';
import { messageOf } from '../../errors/error-record.ts';
import { sentence } from '../../sentence.ts';

/**
 * Server of the queue: a URL (`redis:`, `rediss:`, `postgres:`, `postgresql:`), or options of `ioredis` or of a `pg`
 * pool.
 */
export type BullConnection =
  | string
  | { readonly redis: Readonly<Record<string, unknown>> }
  | { readonly postgres: Readonly<Record<string, unknown>> };

/** Connection options for BullMQ. */
export interface BullTarget {
  readonly server: 'Redis' | 'PostgreSQL';
  readonly options: Readonly<Record<string, unknown>>;
  /** Texts that no error may show. */
  readonly secrets: readonly string[];
}

const CONNECT_MS = 5_000;
/** Milliseconds after which a statement and its connection are abandoned. */
const STATEMENT_MS = 10_000;

export function bullTarget(connection: BullConnection, prefix: string): BullTarget {
  if (typeof connection === 'string') {
    if (/^rediss?:\/\//.test(connection)) return redisTarget({ url: connection });
    if (/^postgres(?:ql)?:\/\//.test(connection))
      return postgresTarget({ connectionString: connection }, prefix);
  } else if (typeof connection === 'object' && connection !== null) {
    if ('redis' in connection) return redisTarget(connection.redis);
    if ('postgres' in connection) return postgresTarget(connection.postgres, prefix);
  }
  throw new AgentError(
    'invalid_option',
    'bullQueue connection is invalid, expected a redis: or postgres: URL, { redis: options of ioredis } or ' +
      '{ postgres: options of a pg pool }.',
    { details: { option: 'bullQueue connection' } },
  );
}

function redisTarget(given: Readonly<Record<string, unknown>>): BullTarget {
  return {
    server: 'Redis',
    options: {
      connectTimeout: CONNECT_MS,
      ...given,
      maxRetriesPerRequest: null,
      // a broken connection is replaced together with everything that depends on it
      retryStrategy: () => null,
    },
    secrets: secretsIn(given),
  };
}

function postgresTarget(given: Readonly<Record<string, unknown>>, prefix: string): BullTarget {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(prefix))
    throw invalidOption('bullQueue prefix', prefix, 'the name of a schema: letters, digits and _');
  const { options = '' } = given;
  return {
    server: 'PostgreSQL',
    options: {
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: STATEMENT_MS,
      keepAlive: true,
      application_name: 'onward queue',
      ...given,
      schema: prefix,
      // jobs that a server crash loses are still in the store
      options: `${String(options)} -c synchronous_commit=off`.trim(),
    },
    secrets: secretsIn(given),
  };
}

function secretsIn(given: Readonly<Record<string, unknown>>): string[] {
  const { url, connectionString, password, sentinelPassword } = given;
  const urls = [url, connectionString].filter((text) => typeof text === 'string');
  const passwords = urls.flatMap((text) => {
    const inUrl = /^[^:/]+:\/\/[^:@/]*:([^@/]+)@/.exec(text)?.[1] ?? '';
    return [inUrl, decoded(inUrl)];
  });
  return [...urls, ...passwords, password, sentinelPassword].filter(
    // shorter texts would match everywhere
    (text): text is string => typeof text === 'string' && text.length > 2,
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Wraps a failure of the server or its driver, without secrets of the connection. */
export function queueFailed({ server, secrets }: BullTarget, error: unknown): AgentError {
  if (AgentError.is(error)) return error;
  const said = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), messageOf(error));
  return new AgentError(
    'queue_failed',
    `The queue on ${server} failed: ${sentence(said)} Work is delayed, not lost: this process continues with sessions ` +
      'that it accepts itself or finds in the store, and reconnects.',
    { details: { server } },
  );
}
