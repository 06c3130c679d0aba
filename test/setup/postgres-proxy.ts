import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { between, pick } from '../kill/random.ts';
import { endsRound, statementOf, WireMessages, type WireMessage } from './postgres-wire.ts';

/**
 * What becomes of a statement. `cut`: it does not reach the server, and the connection breaks. `lose`: it is carried
 * out, and the connection breaks before the answer. `silence` and `swallow`: the same, but the connection stays and says
 * nothing more. `delay`: the answer comes late.
 */
export type Effect = 'cut' | 'lose' | 'silence' | 'swallow' | 'delay';

export interface Fault {
  readonly effect: Effect;
  /** Statements that it meets. Default: all. */
  readonly on?: RegExp;
  /** How many of them. Default 1. */
  readonly times?: number;
  /** Of a delay. Default 100. */
  readonly delayMs?: number;
  /** Called when it has met a statement. */
  met?(text: string): void;
}

export interface Chaos {
  /** From `seededRandom`: the same seed gives the same faults to the same statements in the same order. */
  readonly random: () => number;
  /** The share of statements that something happens to, from 0 to 1. */
  readonly share: number;
  readonly effects: readonly Effect[];
  readonly on?: RegExp;
  /** Longest delay. Default 100. */
  readonly delayMs?: number;
}

export interface PostgresProxy {
  /** The connection string of the server, through the proxy. */
  readonly url: string;
  /** All statements that clients have sent, in order. */
  readonly statements: readonly string[];
  /** Connections that were made. */
  readonly connections: number;
  /** The next such statement meets the fault; faults are asked in the order of their arming. */
  arm(fault: Fault): void;
  /** Faults that have met nothing yet are forgotten. */
  disarm(): void;
  /** Statements meet faults by chance, until null is given. */
  chaos(chaos: Chaos | null): void;
  /** No connection that is there says anything more, in either direction; new ones work. */
  silenceAll(): void;
  /** All connections break. */
  cutAll(): void;
  /** New connections are refused until `accept`. */
  refuse(): void;
  accept(): void;
  close(): Promise<void>;
}

/** A TCP proxy before a PostgreSQL server that reads what passes, and breaks down as it is told to. */
export async function postgresProxy(serverUrl: string): Promise<PostgresProxy> {
  const target = new URL(serverUrl);
  const pairs = new Set<Pair>();
  const statements: string[] = [];
  const faults: { readonly fault: Fault; left: number }[] = [];
  let chaos: Chaos | null = null;
  let connections = 0;
  let isRefusing = false;

  const faultFor = (text: string): Fault | null => {
    statements.push(text);
    const armed = faults.find(({ fault, left }) => left > 0 && (fault.on?.test(text) ?? true));
    if (armed) {
      armed.left -= 1;
      armed.fault.met?.(text);
      return armed.fault;
    }
    if (!chaos || !(chaos.on?.test(text) ?? true)) return null;
    const { random, share, effects, delayMs = 100 } = chaos;
    if (random() >= share) return null;
    return { effect: pick(random, effects) ?? 'delay', delayMs: between(random, 0, delayMs) };
  };

  const server = createServer((client) => {
    connections += 1;
    if (isRefusing) return void client.destroy();
    const pair = new Pair(client, connect(Number(target.port), target.hostname), faultFor);
    pairs.add(pair);
    client.on('close', () => pairs.delete(pair));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const each = (work: (pair: Pair) => void): void => Array.from(pairs).forEach(work);

  return {
    url: url.href,
    statements,
    get connections() {
      return connections;
    },
    arm: (fault) => void faults.push({ fault, left: fault.times ?? 1 }),
    disarm: () => void (faults.length = 0),
    chaos: (given) => (chaos = given),
    silenceAll: () => each((pair) => pair.silence()),
    cutAll: () => each((pair) => pair.cut()),
    refuse: () => (isRefusing = true),
    accept: () => (isRefusing = false),
    close() {
      each((pair) => pair.cut());
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

/** A client's connection and its own to the server. */
class Pair {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #prepared: Map<string, string> = new Map();
  #isSilent = false;
  #round: WireMessage[] = [];
  #answer: Buffer[] = [];
  /** What becomes of the answer that is awaited. */
  #fault: Fault | null = null;

  constructor(client: Socket, server: Socket, faultFor: (text: string) => Fault | null) {
    this.#client = client;
    this.#server = server;
    const [asked, answered] = [new WireMessages(true), new WireMessages(false)];
    let isStarted = false;
    client.on('data', (bytes) => {
      if (this.#isSilent) return;
      for (const message of asked.push(bytes)) {
        if (message.type === 'ssl') {
          client.write('N');
          continue;
        }
        this.#round.push(message);
        if (!isStarted || endsRound(message) || message.type === 'X')
          this.#send(isStarted, faultFor);
      }
    });
    server.on('data', (bytes) => {
      if (this.#isSilent) return;
      for (const message of answered.push(bytes)) {
        this.#answer.push(message.bytes);
        isStarted ||= message.type === 'Z';
        if (!isStarted || message.type === 'Z') this.#reply();
      }
    });
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', () => this.cut());
    }
    client.on('close', () => this.cut());
    server.on('close', () => {
      if (!this.#isSilent) this.cut();
    });
  }

  silence(): void {
    this.#isSilent = true;
  }

  cut(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  #send(isStarted: boolean, faultFor: (text: string) => Fault | null): void {
    const round = this.#round;
    this.#round = [];
    const isStatement = isStarted && round.at(-1)?.type !== 'X';
    const fault = isStatement ? faultFor(statementOf(round, this.#prepared)) : null;
    if (fault?.effect === 'cut') return this.cut();
    if (fault?.effect === 'silence') return this.silence();
    this.#fault = fault;
    this.#server.write(Buffer.concat(round.map(({ bytes }) => bytes)));
  }

  #reply(): void {
    const answer = Buffer.concat(this.#answer);
    this.#answer = [];
    const fault = this.#fault;
    this.#fault = null;
    if (fault?.effect === 'lose') return this.cut();
    if (fault?.effect === 'swallow') return this.silence();
    if (fault?.effect !== 'delay') return void this.#client.write(answer);
    setTimeout(() => {
      if (!this.#isSilent && !this.#client.destroyed) this.#client.write(answer);
    }, fault.delayMs ?? 100);
  }
}
