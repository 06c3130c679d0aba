import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { between, pick } from '../kill/random.ts';
import {
  endsRound,
  lastMessage,
  statementOf,
  WireMessages,
  type WireMessage,
} from './postgres-wire.ts';

/**
 * What happens to a statement. `cut`: it does not reach the server, and the connection breaks. `lose`: it is executed,
 * and the connection breaks before the answer. `silence` and `swallow`: the same, but the connection stays open and
 * sends nothing more. `delay`: the answer is late.
 */
export type Effect = 'cut' | 'lose' | 'silence' | 'swallow' | 'delay';

export interface Fault {
  readonly effect: Effect;
  /** The statements that it affects. Default: all. */
  readonly on?: RegExp;
  /** How many statements it affects. Default 1. */
  readonly times?: number;
  /** Delay in milliseconds. Default 100. */
  readonly delayMs?: number;
  /** Called when it affects a statement. */
  met?(text: string): void;
}

export interface Chaos {
  /** From `seededRandom`: the same seed gives the same faults for the same statements in the same order. */
  readonly random: () => number;
  /** The share of affected statements, from 0 to 1. */
  readonly share: number;
  readonly effects: readonly Effect[];
  readonly on?: RegExp;
  /** Longest delay in milliseconds. Default 100. */
  readonly delayMs?: number;
}

export interface PostgresProxy {
  /** The connection string of the server, through the proxy. */
  readonly url: string;
  /** All statements from clients, in order. */
  readonly statements: readonly string[];
  /** Number of connections made. */
  readonly connections: number;
  /** Applies the fault to the next matching statement. Faults are checked in the order they were armed. */
  arm(fault: Fault): void;
  /** Removes faults that have not been used yet. */
  disarm(): void;
  /** Applies random faults until null is passed. */
  chaos(chaos: Chaos | null): void;
  /** Makes all current connections silent in both directions. New ones work. */
  silenceAll(): void;
  /** Breaks all connections. */
  cutAll(): void;
  /**
   * Ends the next connections as a server does that dies: its last message arrives together with an answer. Answer 0 is
   * that to the login.
   */
  terminate(connections: number, answer: number): void;
  /** Refuses new connections until `accept`. */
  refuse(): void;
  accept(): void;
  close(): Promise<void>;
}

/** A TCP proxy in front of a PostgreSQL server that reads the traffic and injects faults. */
export async function postgresProxy(serverUrl: string): Promise<PostgresProxy> {
  const target = new URL(serverUrl);
  const pairs = new Set<Pair>();
  const statements: string[] = [];
  const faults: { readonly fault: Fault; left: number }[] = [];
  let chaos: Chaos | null = null;
  let connections = 0;
  let isRefusing = false;
  const dying = { connections: 0, answer: 0 };

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
    const lastAnswer = dying.connections-- > 0 ? dying.answer : Number.POSITIVE_INFINITY;
    const upstream = connect(Number(target.port), target.hostname);
    const pair = new Pair(client, upstream, faultFor, lastAnswer);
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
    terminate: (count, answer) => void Object.assign(dying, { connections: count, answer }),
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

/** A client connection and its server connection. */
class Pair {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #prepared: Map<string, string> = new Map();
  #isSilent = false;
  #round: WireMessage[] = [];
  #answer: Buffer[] = [];
  /** What happens to the pending answer. */
  #fault: Fault | null = null;

  constructor(
    client: Socket,
    server: Socket,
    faultFor: (text: string) => Fault | null,
    lastAnswer: number,
  ) {
    this.#client = client;
    this.#server = server;
    const [asked, answered] = [new WireMessages(true), new WireMessages(false)];
    let isStarted = false;
    let answers = 0;
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
        if (message.type === 'Z' && answers++ === lastAnswer) return this.#terminate();
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

  #terminate(): void {
    this.#server.destroy();
    this.#isSilent = true;
    this.#client.end(Buffer.concat([...this.#answer, lastMessage]));
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
