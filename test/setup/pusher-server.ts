import { createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { openChannels, type Channels } from './pusher-channels.ts';
import { readRequest, writeAnswer, type RawRequest } from './pusher-http.ts';
import { answerRest } from './pusher-rest.ts';
import { openSockets, type SocketOptions, type Sockets } from './pusher-sockets.ts';

/**
 * A Pusher protocol server for tests that behaves like Laravel Reverb 1.10.2 in what we use. It has no cache channels
 * and no scaling, and cannot disconnect a user.
 */
export interface PusherServerOptions extends Partial<Omit<SocketOptions, 'channels'>> {
  readonly appId?: string;
  readonly secret?: string;
  /** Prefix of every route. */
  readonly path?: string;
  /** Limit for a whole REST request with its head, in bytes. */
  readonly maxRequestSize?: number;
  /** A fixed port, for a restart. */
  readonly port?: number;
}

/** A fault for the next REST request. */
export interface Fault {
  readonly delayMs?: number;
  /** Sends this status instead of its own answer. */
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Closes the connection without an answer. */
  readonly drops?: boolean;
  /** Never answers. */
  readonly hangs?: boolean;
  /** Whether it performs the request first, so that only the answer is lost. */
  readonly obeys?: boolean;
}

export interface SeenRequest extends RawRequest {
  /** Null until it is answered. */
  status: number | null;
  /** Whether the sender disconnected without an answer. */
  isAbandoned: boolean;
}

export interface PusherServer {
  readonly app: { readonly appId: string; readonly key: string; readonly secret: string };
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** REST requests, oldest first, without those that were too large. */
  readonly requests: readonly SeenRequest[];
  readonly channels: Channels;
  readonly sockets: Sockets;
  /** Number of opened connections of both kinds. */
  readonly connections: number;
  /** Number of requests rejected for their size. */
  readonly tooLarge: number;
  /** Applies one fault to each of the next requests. */
  misbehave(...faults: readonly Fault[]): void;
  /** Applies the fault to every request until the returned function is called. */
  breakdown(fault: Fault): () => void;
  close(): Promise<void>;
}

export async function pusherServer(options: PusherServerOptions = {}): Promise<PusherServer> {
  const { appId = 'test-app', key = 'test-key', secret = 'test-secret', path = '' } = options;
  const { maxRequestSize = 10_000 } = options;
  const channels = openChannels(secret);
  const sockets = openSockets({
    activityTimeout: 30,
    maxMessageSize: 10_000,
    maxConnections: Number.POSITIVE_INFINITY,
    allowedOrigins: ['*'],
    acceptClientEventsFrom: 'members',
    maxMessages: Number.POSITIVE_INFINITY,
    ...options,
    key,
    channels,
  });
  const rest = { appId, secret, path, channels, isConnected: sockets.isConnected };
  const open = new Set<Socket>();
  const requests: SeenRequest[] = [];
  const faults: Fault[] = [];
  let lasting: Fault | null = null;
  let connections = 0;
  let tooLarge = 0;

  const serve = async (socket: Socket): Promise<void> => {
    const request = await readRequest(socket, maxRequestSize);
    if (request === null) return;
    if (request === 'too large') {
      tooLarge++;
      return writeAnswer(socket, { status: 413, body: 'Payload too large.' });
    }
    const [, wanted] = new RegExp(`^${path}/app/([^/?]+)`).exec(request.target) ?? [];
    if (wanted !== undefined && request.headers['upgrade'] !== undefined)
      return sockets.accept(request, wanted, socket);
    if (wanted !== undefined)
      return writeAnswer(socket, { status: 500, body: 'Internal server error.' });
    await answer(socket, request);
  };

  const answer = async (socket: Socket, request: RawRequest): Promise<void> => {
    const seen: SeenRequest = { ...request, status: null, isAbandoned: false };
    requests.push(seen);
    socket.once('close', () => {
      seen.isAbandoned = seen.status === null;
    });
    const fault = lasting ?? faults.shift();
    if (fault?.delayMs !== undefined)
      await new Promise((resolve) => {
        setTimeout(resolve, fault.delayMs);
      });
    const { status, hangs = false, drops = false, obeys = false } = fault ?? {};
    const isSpoilt = hangs || drops || status !== undefined;
    const given = isSpoilt && !obeys ? null : answerRest(request, rest);
    if (hangs) return;
    if (drops) return void socket.destroy();
    const reply = {
      status: status ?? given?.status ?? 500,
      body: fault?.body ?? (status === undefined ? (given?.body ?? '') : 'As configured.'),
      headers: fault?.headers ?? {},
    };
    seen.status = reply.status;
    writeAnswer(socket, reply);
  };

  const server = createServer((socket) => {
    connections++;
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
    void serve(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', () => resolve());
  });
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> =>
    (closing ??= new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of open) socket.destroy();
    }));
  onTestFinished(close);

  return {
    app: { appId, key, secret },
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    path,
    requests,
    channels,
    sockets,
    get connections() {
      return connections;
    },
    get tooLarge() {
      return tooLarge;
    },
    misbehave: (...next) => faults.push(...next),
    breakdown(fault) {
      lasting = fault;
      return () => (lasting = null);
    },
    close,
  };
}
