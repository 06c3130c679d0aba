import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Closes a server without cutting off answers that are under way, and without waiting for those who say nothing. */
export interface Connections {
  /** Call with each request, before it is answered. */
  begin(req: IncomingMessage, res: ServerResponse): void;
  /** Ends at the latest after `graceMs`; called again with less, it ends sooner. */
  close(graceMs: number): Promise<void>;
}

export function connectionsOf(server: Server): Connections {
  /** How many requests a connection waits for. */
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
