import { inTime } from '../../sessions/in-time.ts';

interface RedisClient {
  disconnect(): void;
}
interface PostgresClient {
  readonly connection?: { readonly stream?: { destroy(): unknown } };
  on(event: 'error', listener: () => void): unknown;
  removeAllListeners(event?: string): unknown;
}

/** Private fields of a BullMQ backend with its connections. Each may be missing. */
interface Connections {
  readonly client?: Promise<RedisClient>;
  readonly blockingClient?: Promise<RedisClient>;
  readonly connection?: {
    /** Creates the client that listens. */
    pgModule?: { readonly Client: new (options: unknown) => PostgresClient };
    readonly listenClient?: PostgresClient;
    readonly pool?: {
      readonly _clients?: readonly PostgresClient[];
      on(event: 'connect', listener: (client: PostgresClient) => void): unknown;
    };
  };
}

const OPEN_MS = 100;
const ignore = (): void => {};

/**
 * Keeps an error listener on every PostgreSQL connection of a new backend. BullMQ has none while it checks the schema,
 * before it listens and after it ends a connection, and an error of the server at such a moment would end the process.
 */
export function guardSockets(backend: object): void {
  const { connection } = backend as Connections;
  if (!connection?.pool) return;
  connection.pool.on('connect', guarded);
  const { Client } = connection.pgModule ?? {};
  if (Client)
    connection.pgModule = {
      Client: function ListenClient(options: unknown) {
        return guarded(new Client(options));
      } as never,
    };
}

function guarded(client: PostgresClient): PostgresClient {
  const { removeAllListeners } = client;
  client.on('error', ignore);
  client.removeAllListeners = (event) => {
    removeAllListeners.call(client, event);
    return client.on('error', ignore);
  };
  return client;
}

/** Ends connections that did not close in an orderly way. Each of them would keep the process running. */
export async function dropSockets(backend: object): Promise<void> {
  const { client, blockingClient, connection } = backend as Connections;
  const { listenClient, pool } = connection ?? {};
  for (const one of [listenClient, ...(pool?._clients ?? [])]) one?.connection?.stream?.destroy();
  const late = (): Error => new Error('it never opened');
  for (const opening of [client, blockingClient])
    await inTime(Promise.resolve(opening), OPEN_MS, late).then(
      (opened) => opened?.disconnect(),
      ignore,
    );
}
