import { inTime } from '../../sessions/in-time.ts';

interface RedisClient {
  disconnect(): void;
}
interface PostgresClient {
  readonly connection?: { readonly stream?: { destroy(): unknown } };
  on(event: 'error' | 'end', listener: () => void): unknown;
  removeAllListeners(event?: string): unknown;
}
type ClientClass = new (options: unknown) => PostgresClient;

/** Private fields of a BullMQ backend with its connections. Each may be missing. */
interface Connections {
  readonly client?: Promise<RedisClient>;
  readonly blockingClient?: Promise<RedisClient>;
  readonly connection?: {
    /** Creates the client that listens. */
    pgModule?: { readonly Client: ClientClass };
    /** Creates its clients with `Client`, the first one at once. */
    readonly pool?: { Client?: ClientClass; readonly _clients?: readonly PostgresClient[] };
  };
}

/** The PostgreSQL connections of a backend that have not ended. */
class Sockets {
  readonly #open: Set<PostgresClient> = new Set();
  #isDropped = false;

  /** Returns a class whose clients are kept here, and have an error listener at any moment. */
  keptFrom(Client: ClientClass): ClientClass {
    const kept = (options: unknown): PostgresClient => this.keep(new Client(options));
    return function KeptClient(options: unknown) {
      return kept(options);
    } as never;
  }

  keep(client: PostgresClient): PostgresClient {
    this.#open.add(client);
    client.on('error', ignore);
    const gone = (): void => void this.#open.delete(client);
    client.on('end', gone);
    const { removeAllListeners } = client;
    client.removeAllListeners = (event) => {
      removeAllListeners.call(client, event);
      client.on('end', gone);
      return client.on('error', ignore);
    };
    // what BullMQ does late must not keep the process either; it connects after it has the client
    if (this.#isDropped) queueMicrotask(() => destroy(client));
    return client;
  }

  drop(): void {
    this.#isDropped = true;
    for (const client of this.#open) destroy(client);
  }
}

const sockets = new WeakMap<object, Sockets>();
const OPEN_MS = 100;
const ignore = (): void => {};
const destroy = ({ connection }: PostgresClient): void => void connection?.stream?.destroy();

/**
 * Watches the PostgreSQL connections of a new backend. BullMQ and its pool forget those that they close, and one to a
 * silent server never closes. They have no error listener while they check the schema, before they listen and after they
 * end a connection, and an error of the server at such a moment would end the process.
 */
export function guardSockets(backend: object): void {
  const { connection } = backend as Connections;
  const { pool, pgModule } = connection ?? {};
  if (!connection || !pool?.Client) return;
  const kept = new Sockets();
  sockets.set(backend, kept);
  for (const client of pool._clients ?? []) kept.keep(client);
  pool.Client = kept.keptFrom(pool.Client);
  if (pgModule) connection.pgModule = { Client: kept.keptFrom(pgModule.Client) };
}

/** Ends connections that did not close in an orderly way. Each of them would keep the process running. */
export async function dropSockets(backend: object): Promise<void> {
  sockets.get(backend)?.drop();
  const { client, blockingClient } = backend as Connections;
  const late = (): Error => new Error('it never opened');
  for (const opening of [client, blockingClient])
    await inTime(Promise.resolve(opening), OPEN_MS, late).then(
      (opened) => opened?.disconnect(),
      ignore,
    );
}
