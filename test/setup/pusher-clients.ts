import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Echo from 'laravel-echo';
import pusherJs from 'pusher-js';
import { onTestFinished } from 'vitest';
import { envelopeTypes } from '../../src/ui/read-envelope.ts';
import type { Envelope } from 'onward/broadcasting';
import type { PusherServer } from './pusher-server.ts';

/** At runtime Node gets the class itself, but its types declare a module around it. */
const Pusher = pusherJs as unknown as typeof pusherJs.default;
export type PusherClient = InstanceType<typeof Pusher>;

type Handler = (request: Request) => Promise<Response>;

/** Serves a Fetch handler on a local port and returns its address. */
export async function mounted(handler: Handler): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const { method = 'GET', url = '/' } = incoming;
      const response = await handler(
        new Request(`http://127.0.0.1${url}`, {
          method,
          headers: Object.entries(incoming.headers).map(([name, value]): [string, string] => [
            name,
            String(value),
          ]),
          ...(method === 'POST' && { body: Buffer.concat(chunks) }),
        }),
      );
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      outgoing.end(await response.text());
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/broadcasting/auth`;
}

/** Creates a Laravel Echo client like a page does, with the user in a header. */
export function echoClient(
  server: PusherServer,
  authEndpoint: string,
  user: string,
): Echo<'reverb'> {
  const echo = new Echo({
    broadcaster: 'reverb',
    Pusher: Pusher as never, // its types have the same mismatch
    withoutInterceptors: true,
    key: server.app.key,
    wsHost: server.host,
    wsPort: server.port,
    wsPath: server.path,
    forceTLS: false,
    enabledTransports: ['ws'],
    authEndpoint,
    auth: { headers: { 'x-user': user } },
  });
  onTestFinished(() => echo.disconnect());
  return echo;
}

export function pusherClient(
  server: PusherServer,
  authEndpoint: string,
  user: string,
  key: string = server.app.key,
  more: Partial<ConstructorParameters<typeof Pusher>[1]> = {},
): PusherClient {
  const pusher = new Pusher(key, {
    cluster: '',
    wsHost: server.host,
    wsPort: server.port,
    wsPath: server.path,
    forceTLS: false,
    enabledTransports: ['ws'],
    channelAuthorization: {
      endpoint: authEndpoint,
      transport: 'ajax',
      headers: { 'x-user': user },
    },
    ...more,
  });
  onTestFinished(() => pusher.disconnect());
  return pusher;
}

/** Subscribes and collects the envelopes that arrive. */
export async function listening(
  echo: Echo<'reverb'>,
  sessionId: string,
): Promise<readonly Envelope[]> {
  const received: Envelope[] = [];
  const channel = echo.private(`agent.${sessionId}`);
  for (const type of envelopeTypes)
    channel.listen(`.${type}`, (envelope: Envelope) => {
      if (envelope.type !== type) throw new Error(`${envelope.type} came as ${type}`);
      received.push(envelope);
    });
  await new Promise<void>((resolve, reject) => {
    channel.subscribed(() => resolve()).error((error: unknown) => reject(error));
  });
  return received;
}
