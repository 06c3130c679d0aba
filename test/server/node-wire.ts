import { connect, type Socket } from 'node:net';
import { serve, type RunningServer, type ServeOptions } from 'onward/server/node';
import { onTestFinished } from 'vitest';

/** Starts a server on a free port until the end of the test. */
export async function serving(
  fetch: ServeOptions['fetch'],
  options: Partial<ServeOptions> = {},
): Promise<RunningServer> {
  const server = await serve({ fetch, port: 0, ...options });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return server;
}

export interface Wire {
  readonly socket: Socket;
  /** Received text so far. */
  readonly text: () => string;
  /** Resolves with the received text when the other side closes. */
  readonly closed: Promise<string>;
}

/** Sends raw bytes, which need not be valid HTTP. */
export function wire(port: number, bytes: string): Wire {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (data) => (text += String(data)));
  socket.on('error', () => {});
  socket.write(bytes);
  onTestFinished(() => {
    socket.destroy();
  });
  const closed = new Promise<string>((resolve) => {
    socket.once('close', () => resolve(text));
  });
  return { socket, text: () => text, closed };
}

export const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
