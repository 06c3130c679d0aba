import type { BusConnection, MessageBus } from '../../bus/message-bus.ts';
import { uuid } from '../../ids.ts';

/** Buses of several processes that reach each other. */
export interface MessageBusHarness {
  /** The bus of one more process: a new one, or the same each time where processes share it. */
  bus(): MessageBus;
  /** Breaks all connections and lets no other be made, until the returned function is called. */
  breakdown?(): Promise<() => Promise<void>>;
}

/** One test of a contract, with processes of its own. */
export interface BusCase {
  readonly name: string;
  run(peers: Peers): Promise<void>;
}

/** Opens connections for one case, and closes them after it. */
export class Peers {
  readonly harness: MessageBusHarness;
  /** Prefix of every text, as others may use the same channel. */
  readonly mark: string = `${uuid()} `;
  readonly #waitMs: number;
  readonly #opened: Peer[] = [];

  constructor(harness: MessageBusHarness, waitMs: number) {
    this.harness = harness;
    this.#waitMs = waitMs;
  }

  /** Peers with new nodes, once all are connected. */
  async connect<Count extends 1 | 2 | 3>(
    count: Count,
  ): Promise<Count extends 1 ? [Peer] : Count extends 2 ? [Peer, Peer] : [Peer, Peer, Peer]> {
    const peers = Array.from({ length: count }, () => this.open());
    for (const peer of peers) await peer.until('it is connected', () => peer.connects > 0);
    return peers as never; // as many as were asked for
  }

  open(node: string = `node-${uuid()}`): Peer {
    const peer = new Peer(this.harness.bus(), node, this.mark, this.#waitMs);
    this.#opened.push(peer);
    return peer;
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map(({ connection }) => connection.close()));
  }
}

/** A process at the bus. Its texts are reported without the mark of the case. */
export class Peer {
  readonly node: string;
  readonly connection: BusConnection;
  readonly received: string[] = [];
  readonly failures: unknown[] = [];
  connects = 0;
  /** Called with each text, before it is noted. */
  onText: (text: string) => void = () => {};
  readonly mark: string;
  readonly #waitMs: number;
  readonly #seen: Set<string> = new Set();
  readonly #watchers: Set<() => void> = new Set();

  constructor(bus: MessageBus, node: string, mark: string, waitMs: number) {
    this.node = node;
    this.mark = mark;
    this.#waitMs = waitMs;
    this.connection = bus.open(node, {
      received: (text) => {
        if (!text.startsWith(mark)) return;
        const own = text.slice(mark.length);
        this.onText(own);
        this.received.push(own);
        this.#seen.add(own);
        this.#notify();
      },
      connected: () => {
        this.connects += 1;
        this.#notify();
      },
      failed: (error) => {
        this.failures.push(error);
        this.#notify();
      },
    });
  }

  send(to: Peer | null, text: string, options?: { readonly isDroppable?: boolean }): void {
    this.connection.send(to?.node ?? null, this.mark + text, options);
  }

  /** Waits for the end of what another peer sends. */
  async untilReceived(text: string): Promise<readonly string[]> {
    await this.until(`"${text}" arrives`, () => this.#seen.has(text));
    return this.received;
  }

  until(what: string, check: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const watch = (): void => {
        if (!check()) return;
        this.#watchers.delete(watch);
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#watchers.delete(watch);
        const seen = JSON.stringify(this.received).slice(0, 300);
        const failures = this.failures.map(String).join('; ');
        reject(
          new Error(
            `Expected that ${what} within ${this.#waitMs} ms, saw ${seen}, failures: ${failures || 'none'}.`,
          ),
        );
      }, this.#waitMs);
      this.#watchers.add(watch);
      watch();
    });
  }

  #notify(): void {
    for (const watch of this.#watchers) watch();
  }
}
