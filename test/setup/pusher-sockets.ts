import { randomInt } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { Malformed, Unauthorized, type Channels, type Subscriber } from './pusher-channels.ts';
import type { RawRequest } from './pusher-http.ts';
import { phpJson } from './pusher-signing.ts';

export interface SocketOptions {
  readonly key: string;
  readonly channels: Channels;
  readonly activityTimeout: number;
  readonly maxMessageSize: number;
  readonly maxConnections: number;
  /** Hosts, with `*` for any number of characters. */
  readonly allowedOrigins: readonly string[];
  readonly acceptClientEventsFrom: 'all' | 'members' | 'none';
  /** Number of messages that a connection may send. Later ones are rejected. */
  readonly maxMessages: number;
}

interface Client extends Subscriber {
  readonly ws: WebSocket;
  activeAt: number;
  isPinged: boolean;
  /** A client that sent a control frame is pinged with control frames. */
  usesFrames: boolean;
  messages: number;
}

export interface Sockets {
  accept(request: RawRequest, key: string, socket: Socket): void;
  isConnected(socketId: string): boolean;
  /** Does what Reverb does once a minute: closes clients that did not answer the last ping, then pings idle ones. */
  sweep(idleMs: number): void;
  /** Closes every connection without a close frame, like a server that crashes. */
  drop(): void;
  /** Answers the next connections with these errors and closes them. */
  refuse(...codes: readonly number[]): void;
  /** Sets the number of messages that a connection may send. */
  allow(messages: number): void;
}

const error = (code: number, message: string): string =>
  phpJson({ event: 'pusher:error', data: phpJson({ code, message }) });

export function openSockets(options: SocketOptions): Sockets {
  const { channels } = options;
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const clients = new Map<string, Client>();
  const refusals: number[] = [];
  let { maxMessages } = options;

  const take = (client: Client, text: string): void => {
    client.messages++;
    if (client.messages > maxMessages)
      return client.send(error(4301, 'Message rate limit exceeded'));
    try {
      handle(client, text);
    } catch (thrown) {
      client.send(
        thrown instanceof Unauthorized
          ? error(4009, thrown.message || 'Connection is unauthorized')
          : error(4200, 'Invalid message format'),
      );
    }
  };

  const handle = (client: Client, text: string): void => {
    const message = JSON.parse(text) as Record<string, unknown> | null;
    const event = message?.['event'];
    if (!message || typeof event !== 'string') throw new Malformed();
    if (event.startsWith('client-')) return whisper(client, message);
    const raw = message['data'];
    const data = (typeof raw === 'string' ? JSON.parse(raw) : (raw ?? {})) as Record<
      string,
      unknown
    >;
    if (event === 'pusher:subscribe') channels.subscribe(client, data);
    else if (event === 'pusher:unsubscribe') channels.unsubscribe(client, String(data['channel']));
    else if (event === 'pusher:ping') client.send(phpJson({ event: 'pusher:pong' }));
    else if (event !== 'pusher:pong' && event.startsWith('pusher:')) throw new Malformed();
  };

  const whisper = (client: Client, message: Readonly<Record<string, unknown>>): void => {
    const { event, channel, data } = message;
    const { acceptClientEventsFrom: from } = options;
    if (typeof channel !== 'string') throw new Malformed();
    if (data !== undefined && typeof data !== 'object') throw new Malformed();
    if (from === 'none') return client.send(error(4301, 'Client events are not enabled'));
    if (from === 'all') return channels.publish(channel, message, client.socketId);
    if (!channels.isMember(client, channel))
      throw new Unauthorized('The client is not a member of the specified channel.');
    const userId = channels.memberOf(client, channel)?.user_id;
    const frame = { event, channel, data, ...(userId !== undefined && { user_id: userId }) };
    channels.publish(channel, frame, client.socketId);
  };

  const isAllowed = (origin: string | undefined): boolean => {
    if (options.allowedOrigins.includes('*')) return true;
    const host = origin !== undefined && URL.canParse(origin) ? new URL(origin).hostname : '';
    return options.allowedOrigins.some((allowed) =>
      new RegExp(`^${allowed.replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(host),
    );
  };

  const greeting = (request: RawRequest, socketId: string): string => {
    if (!isAllowed(request.headers['origin'])) return error(4009, 'Origin not allowed');
    // the connection stays open and works
    if (channels.connections() >= options.maxConnections)
      return error(4004, 'Application is over connection quota');
    const data = phpJson({ socket_id: socketId, activity_timeout: options.activityTimeout });
    return phpJson({ event: 'pusher:connection_established', data });
  };

  const welcome = (request: RawRequest, ws: WebSocket): void => {
    const socketId = `${randomInt(1, 1e9)}.${randomInt(1, 1e9)}`;
    const client: Client = {
      socketId,
      ws,
      activeAt: Date.now(),
      isPinged: false,
      usesFrames: false,
      messages: 0,
      send: (text) => ws.send(text),
    };
    const isActive = (): void => {
      client.activeAt = Date.now();
      client.isPinged = false;
    };
    clients.set(socketId, client);
    ws.on('error', () => {});
    ws.on('close', () => {
      clients.delete(socketId);
      channels.leave(client);
    });
    for (const frame of ['ping', 'pong'] as const)
      ws.on(frame, () => {
        client.usesFrames = true;
        isActive();
      });
    ws.on('message', (data: Buffer) => {
      isActive();
      if (data.length > options.maxMessageSize) ws.close(1009, 'Maximum message size exceeded');
      else take(client, data.toString('utf8'));
    });
    client.send(greeting(request, socketId));
  };

  return {
    accept(request, key, socket) {
      const incoming = { ...request, url: request.target } as unknown as IncomingMessage; // the fields that ws reads
      server.handleUpgrade(incoming, socket, request.body, (ws) => {
        const code = key === options.key ? refusals.shift() : 4001;
        if (code === undefined) return welcome(request, ws);
        ws.on('error', () => {});
        // ends the connection without a close frame
        ws.send(error(code, code === 4001 ? 'Application does not exist' : 'No'), () =>
          socket.end(),
        );
      });
    },
    isConnected: (socketId) => clients.has(socketId),
    sweep(idleMs) {
      for (const client of clients.values()) {
        const isCounted = channels.names().some((channel) => channels.isMember(client, channel));
        if (!isCounted || Date.now() - client.activeAt < idleMs) continue;
        if (client.isPinged) {
          client.ws.send(error(4201, 'Pong reply not received in time'), () =>
            client.ws.terminate(),
          );
          continue;
        }
        client.isPinged = true;
        if (client.usesFrames) client.ws.ping();
        else client.send(phpJson({ event: 'pusher:ping' }));
      }
    },
    refuse: (...codes) => void refusals.push(...codes),
    allow(messages) {
      maxMessages = messages;
    },
    drop() {
      for (const { ws } of clients.values()) ws.terminate();
    },
  };
}
