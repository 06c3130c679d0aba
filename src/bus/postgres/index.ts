import { invalidOption } from '../../errors/agent-error.ts';
import { packageMissing } from '../bus-errors.ts';
import type { MessageBus } from '../message-bus.ts';
import { serverBus, type ServerBusOptions } from '../server-bus.ts';
import { explainFailure, isOfText, isRefusal } from './postgres-failures.ts';
import { postgresLink, type ListenClientLike } from './postgres-link.ts';

export type { ListenClientLike } from './postgres-link.ts';

export interface PostgresBusOptions extends ServerBusOptions {
  /**
   * Address of the server, without a pooler in transaction mode in between: LISTEN needs its own connection. Default
   * without `client`: the `PG…` environment variables.
   */
  readonly listenUrl?: string;
  /**
   * Creates a new `pg` Client that is not connected, once per connection: for changing passwords or custom TLS options.
   */
  client?(): ListenClientLike | Promise<ListenClientLike>;
}

/** Largest message in bytes. NOTIFY accepts less than 8,000. */
const MAX_BYTES = 7_900;

/**
 * Creates a bus that uses LISTEN and NOTIFY of PostgreSQL, over one dedicated connection per process. All processes use
 * the same database, and every user of it can read and send messages. Needs the package `pg`.
 */
export function postgresBus(options: PostgresBusOptions = {}): MessageBus {
  const { listenUrl, client } = options;
  if (listenUrl !== undefined && client !== undefined)
    throw invalidOption('postgresBus()', options, 'a listenUrl or a client, not both');
  if (listenUrl !== undefined && typeof listenUrl !== 'string')
    throw invalidOption('postgresBus({ listenUrl })', listenUrl, 'a text');
  if (client !== undefined && typeof client !== 'function')
    throw invalidOption('postgresBus({ client })', client, 'a function that creates a pg Client');
  return serverBus('postgresBus', MAX_BYTES, options, (timeoutMs) => {
    const makeClient = client ?? (() => newClient(listenUrl, timeoutMs));
    return {
      name: 'PostgreSQL',
      open: (channels, events) => postgresLink({ client: makeClient, timeoutMs }, channels, events),
      isRefusal,
      isOfText,
      explain: explainFailure,
    };
  });
}

async function newClient(
  connectionString: string | undefined,
  timeoutMs: number,
): Promise<ListenClientLike> {
  const pg = await import('pg').catch((cause: unknown) => {
    throw packageMissing('PostgreSQL', 'pg', cause);
  });
  return new pg.default.Client({
    ...(connectionString !== undefined && { connectionString }),
    application_name: 'onward bus',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: timeoutMs,
  });
}
