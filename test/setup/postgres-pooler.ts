import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { endsRound, WireMessages, type WireMessage } from './postgres-wire.ts';

export interface PostgresPooler {
  readonly url: string;
  /** How many times a server connection moved from one client to another. */
  readonly handovers: number;
  close(): Promise<void>;
}

/**
 * Shares a few server connections among any number of clients, one transaction at a time, without a reset in between,
 * like PgBouncer in transaction mode. The `options` parameter of the address goes to the server, not to the clients.
 */
export async function postgresPooler(serverUrl: string, size: number): Promise<PostgresPooler> {
  const target = new URL(serverUrl);
  const free: Backend[] = [];
  const waiting: ((backend: Backend) => void)[] = [];
  const sockets = new Set<Socket>();
  let made = 0;
  let handovers = 0;

  const give = (backend: Backend): void => {
    const next = waiting.shift();
    if (next) next(backend);
    else free.push(backend);
  };
  const take = (use: (backend: Backend) => void): void => {
    const backend = free.shift();
    if (backend) return use(backend);
    waiting.push(use);
    if (made >= size) return;
    made += 1;
    const socket = connect(Number(target.port), target.hostname);
    socket.setNoDelay(true);
    sockets.add(socket);
    const opened = new Backend(socket, startup(target), () => give(opened));
  };
  const drop = (backend: Backend): void => {
    backend.end();
    made -= 1;
    const next = waiting.shift();
    if (next) take(next);
  };

  const server = createServer((client) => {
    client.setNoDelay(true);
    sockets.add(client);
    client.on('error', () => {});
    const asked = new WireMessages(true);
    let backend: Backend | null = null;
    let isTaking = false;
    let round: WireMessage[] = [];
    const rounds: Buffer[] = [];

    const answered = (message: WireMessage): void => {
      client.write(message.bytes);
      const isOver = message.type === 'Z' && message.bytes[5] === IDLE;
      if (!isOver || !backend) return;
      const given = backend;
      backend = null;
      give(given);
      forward();
    };
    const forward = (): void => {
      if (rounds.length === 0) return;
      if (backend) return backend.send(rounds.shift() ?? Buffer.alloc(0), answered);
      if (isTaking) return;
      isTaking = true;
      take((taken) => {
        isTaking = false;
        if (client.destroyed) return give(taken);
        if (taken.lastClient !== null && taken.lastClient !== client) handovers += 1;
        taken.lastClient = client;
        backend = taken;
        forward();
      });
    };
    client.on('data', (bytes) => {
      for (const message of asked.push(bytes)) {
        if (message.type === 'ssl') client.write('N');
        else if (message.type === 'startup') client.write(greeting());
        else if (message.type !== 'X') {
          round.push(message);
          if (!endsRound(message)) continue;
          rounds.push(Buffer.concat(round.map((part) => part.bytes)));
          round = [];
          forward();
        }
      }
    });
    client.on('close', () => {
      sockets.delete(client);
      if (backend) drop(backend);
      backend = null;
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = new URL(serverUrl);
  url.search = '';
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    get handovers() {
      return handovers;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

const IDLE = 'I'.charCodeAt(0);

/** A connection to the server. Calls `ready` once it can be used. */
class Backend {
  lastClient: Socket | null = null;
  readonly #socket: Socket;
  #answered: ((message: WireMessage) => void) | null = null;

  constructor(socket: Socket, hello: Buffer, ready: () => void) {
    this.#socket = socket;
    const messages = new WireMessages(false);
    let isReady = false;
    socket.on('error', () => {});
    socket.write(hello);
    socket.on('data', (bytes) => {
      for (const message of messages.push(bytes))
        if (isReady) this.#answered?.(message);
        else if (message.type === 'Z') {
          isReady = true;
          ready();
        }
    });
  }

  send(round: Buffer, answered: (message: WireMessage) => void): void {
    this.#answered = answered;
    this.#socket.write(round);
  }

  end(): void {
    this.#answered = null;
    this.#socket.destroy();
  }
}

const text = (value: string): Buffer => Buffer.from(`${value}\0`);

function framed(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

function startup({ username, pathname, searchParams }: URL): Buffer {
  const version = Buffer.from([0, 3, 0, 0]);
  const fields = ['user', username, 'database', pathname.slice(1), 'client_encoding', 'UTF8'];
  for (const name of ['application_name', 'options']) {
    const value = searchParams.get(name);
    if (value !== null) fields.push(name, value);
  }
  return framed('', version, ...fields.map(text), Buffer.from([0]));
}

/** Accepts every client, as the server does. */
const greeting = (): Buffer =>
  Buffer.concat([
    framed('R', Buffer.alloc(4)),
    ...[
      ['server_version', '18.0'],
      ['client_encoding', 'UTF8'],
      ['standard_conforming_strings', 'on'],
    ].map((fields) => framed('S', ...fields.map(text))),
    framed('K', Buffer.alloc(8)),
    framed('Z', Buffer.from('I')),
  ]);
