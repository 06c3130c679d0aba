import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Closes a server: finishes responses in progress and closes idle connections. */
export interface Connections {
  /** Call with each request, before it is answered. */
  begin(req: IncomingMessage, res: ServerResponse): void;
  /** Closes after at most `graceMs`; a second call with less time closes sooner. */
  close(graceMs: number): Promise<void>;
}

export function connectionsOf(server: Server): Connections {
  /** Number of open requests of each connection. */
  const sockets = new Map<Socket, number>();
  let closed: Promise<void> | null = null;

  server.on('connection', (socket: Socket) => {
    sockets.set(socket, 0);
    socket.once('close', () => sockets.delete(socket));
  });
  const count = (socket: Socket, more: number): number => {
    const now = (sockets.get(socket) ?? 0) + more;
    if (sockets.has(socket)) sockets.set(socket, now);
    return now;
  };

  return {
    begin(req, res) {
      const { socket } = req;
      count(socket, 1);
      if (closed) res.setHeader('connection', 'close');
      res.once('close', () => {
        if (count(socket, -1) <= 0 && closed) socket.destroySoon();
      });
    },
    close(graceMs) {
      closed ??= new Promise((resolve) => {
        server.close(() => resolve());
        for (const [socket, requests] of sockets) if (requests === 0) socket.destroy();
      });
      const timer = setTimeout(() => {
        for (const socket of sockets.keys()) socket.destroy();
      }, graceMs);
      return closed.finally(() => clearTimeout(timer));
    },
  };
}
