import { connect, type Socket } from 'node:net';
import { serve, type RunningServer, type ServeOptions } from 'onward/server/node';
import { onTestFinished } from 'vitest';

/** A real server on a free port; closed when the test is over. */
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
  /** What came so far. */
  readonly text: () => string;
  /** Settles with all that came when the other side has closed. */
  readonly closed: Promise<string>;
}

/** Bytes as they are: what no HTTP client would send. */
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
