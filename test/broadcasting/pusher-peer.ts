import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { PusherServer } from '../setup/pusher-server.ts';
import { hmac, md5, signedText } from '../setup/pusher-signing.ts';

export interface Frame {
  readonly event: string;
  readonly channel?: string;
  readonly data?: unknown;
}

export interface Peer {
  readonly ws: WebSocket;
  readonly texts: readonly string[];
  /** Returns the next unread frame. */
  next(): Promise<Frame>;
  say(event: string, data?: unknown, channel?: string): void;
  readonly socketId: string;
}

/** Opens a plain WebSocket without a client library. */
export async function peer(server: PusherServer, key = 'test-key', headers = {}): Promise<Peer> {
  const ws = new WebSocket(`ws://127.0.0.1:${server.port}${server.path}/app/${key}?protocol=7`, {
    headers,
  });
  onTestFinished(() => ws.terminate());
  const texts: string[] = [];
  const waiting: ((frame: Frame) => void)[] = [];
  let taken = 0;
  const take = (): Frame => JSON.parse(texts[taken++] ?? '') as Frame;
  ws.on('message', (data: Buffer) => {
    texts.push(data.toString());
    if (waiting.length > 0) waiting.shift()?.(take());
  });
  const next = async (): Promise<Frame> =>
    taken < texts.length
      ? take()
      : new Promise((resolve) => {
          waiting.push(resolve);
        });
  await once(ws, 'open');
  const first = await next();
  const { socket_id: socketId = '' } = JSON.parse(String(first.data)) as { socket_id?: string };
  if (socketId === '') taken = 0;
  return {
    ws,
    texts,
    next,
    socketId,
    say: (event, data, channel) => ws.send(JSON.stringify({ event, data, channel })),
  };
}

/** Returns the name and the code of an error event. */
export const codeOf = ({ event, data }: Frame): [string, number] => [
  event,
  (JSON.parse(String(data)) as { code: number }).code,
];

/** Returns the path and query of a correctly signed request. */
export function signedTarget(
  server: PusherServer,
  method: string,
  path: string,
  body = '',
  more: Record<string, string> = {},
): string {
  const query = new URLSearchParams({
    auth_key: server.app.key,
    auth_timestamp: '1794768636',
    auth_version: '1.0',
    ...(body !== '' && { body_md5: md5(body) }),
    ...more,
  });
  const text = signedText(method, path, query, Buffer.from(body));
  query.set('auth_signature', hmac(server.app.secret, text));
  return `${server.path}${path}?${String(query)}`;
}

/** Sends a signed request to the REST API and returns status and body. */
export async function rest(
  server: PusherServer,
  method: string,
  path: string,
  body = '',
  more: Record<string, string> = {},
): Promise<[number, string]> {
  const response = await fetch(
    `http://127.0.0.1:${server.port}${signedTarget(server, method, path, body, more)}`,
    { method, ...(body !== '' && { body }) },
  );
  return [response.status, await response.text()];
}
