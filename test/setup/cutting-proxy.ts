import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Where the connection of a call is cut; each but the last happens once. */
export type CutPoint =
  /** The server is gone before it gets a byte of the call. */
  | 'before request'
  /** It got half of it. */
  | 'in request'
  /** It got all of it, and no answer is passed on. */
  | 'before answer'
  /** Half of the answer is passed on. */
  | 'in answer'
  /** The answer is passed on, and the socket of it is closed. */
  | 'after answer';

export interface CuttingProxy {
  readonly url: string;
  /** Connections so far. */
  readonly connections: number;
  /** Closes all sockets that are open now. */
  closeAll(): void;
}

/**
 * A proxy in front of an HTTP server. It cuts the connection of the first request that has the text `tools/call`, after it
 * has asked `atCut`, which may kill the server.
 */
export async function cuttingProxy(
  target: string,
  point: CutPoint | null,
  atCut: () => Promise<void>,
): Promise<CuttingProxy> {
  const { port, pathname } = new URL(target);
  const sockets = new Set<Socket>();
  let isCut = point === null;
  let connections = 0;
  const server = createServer((client) => {
    connections += 1;
    const upstream = connect(Number(port), '127.0.0.1');
    let isCall = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
    }
    const cut = (): void => {
      isCut = true;
      client.pause();
      const close = (): void => {
        upstream.destroy();
        client.destroy();
      };
      atCut().then(close, close);
    };
    client.on('data', (bytes) => {
      if (!isCut && bytes.includes('tools/call')) isCall = true;
      if (isCall && !isCut && point === 'before request') return cut();
      if (isCall && !isCut && point === 'in request')
        return void upstream.write(bytes.subarray(0, Math.floor(bytes.length / 2)), cut);
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      // the headers of the answer may come before it
      if (!isCall || isCut || !bytes.includes('"result"')) return void client.write(bytes);
      if (point === 'before answer') return cut();
      const half = point === 'in answer' ? Math.floor(bytes.length / 2) : bytes.length;
      client.write(bytes.subarray(0, half), cut);
    });
    const end = (): void => {
      for (const socket of [client, upstream]) {
        sockets.delete(socket);
        socket.destroy();
      }
    };
    client.on('close', end);
    upstream.on('close', end);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const closeAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    closeAll();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    get connections() {
      return connections;
    },
    closeAll,
  };
}
