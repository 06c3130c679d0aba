import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface TcpProxy {
  /** The address of the server, through the proxy. */
  readonly url: string;
  /** Number of connections made. */
  readonly connections: number;
  /** Makes all current connections silent in both directions. New ones work. */
  silenceAll(): void;
  /** Calls `silenceAll` and `swallow` when clients have sent this many pieces of data. Resolves then. */
  silenceAfter(pieces: number): Promise<void>;
  /** Breaks all connections. */
  cutAll(): void;
  /** Breaks new connections at once until `accept`. */
  refuse(): void;
  /** Accepts new connections but sends nothing until `accept`. */
  swallow(): void;
  accept(): void;
  close(): Promise<void>;
}

/** A TCP proxy in front of any server that injects faults. */
export async function tcpProxy(serverUrl: string): Promise<TcpProxy> {
  const target = new URL(serverUrl);
  const pairs = new Set<readonly [Socket, Socket]>();
  const sockets = new Set<Socket>();
  let connections = 0;
  let mode: 'accept' | 'refuse' | 'swallow' = 'accept';

  let piecesLeft = Number.POSITIVE_INFINITY;
  let fellSilent: () => void = () => {};
  const fallSilent = (): void => {
    pairs.clear();
    mode = 'swallow';
    fellSilent();
  };

  // a silent connection does not answer a close either
  const server = createServer({ allowHalfOpen: true }, (client) => {
    connections += 1;
    keep(client);
    if (mode === 'refuse') return void client.destroy();
    if (mode === 'swallow') return void client.resume();
    const upstream = connect({
      port: Number(target.port),
      host: target.hostname,
      allowHalfOpen: true,
    });
    keep(upstream);
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [upstream, client]] as const) {
      from.setNoDelay(true);
      from.on('data', (bytes) => {
        if (pairs.has(pair)) to.write(bytes);
        if (from === client && --piecesLeft === 0) fallSilent();
      });
      from.on('end', () => {
        if (pairs.has(pair)) to.end();
      });
      from.on('close', () => {
        if (pairs.delete(pair)) to.destroy();
      });
    }
  });
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  };
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };

  return {
    url: url.href,
    get connections() {
      return connections;
    },
    silenceAll: () => pairs.clear(),
    silenceAfter(pieces) {
      piecesLeft = pieces;
      return new Promise((resolve) => (fellSilent = resolve));
    },
    cutAll,
    refuse: () => (mode = 'refuse'),
    swallow: () => (mode = 'swallow'),
    accept: () => (mode = 'accept'),
    close() {
      cutAll();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
