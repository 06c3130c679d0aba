import { AgentError } from '../errors/agent-error.ts';
import { type Clock, monotonicOf, systemClock } from '../clock.ts';
import { disconnected, overloaded, refused } from './bus-errors.ts';
import { decodeFrame, encodeFrame, newSender, nodeChannel, refusalOf } from './bus-frame.ts';
import type { BusChannels, BusLink, BusMessage, BusServer } from './bus-server.ts';
import { pause, within } from './deadline.ts';
import { LinkSender } from './link-sender.ts';
import type { BusConnection, BusHandlers } from './message-bus.ts';
import { safeHandlers } from './safe-handlers.ts';

export interface ConnectionOptions {
  readonly channel: string;
  readonly maxBytes: number;
  /** Time limit for connecting and for each answer of the server, in milliseconds. */
  readonly timeoutMs: number;
  /** Wait between two checks that the server answers, in milliseconds. */
  readonly pingMs: number;
  readonly clock?: Clock;
  readonly random?: () => number;
}

const FIRST_RETRY_MS = 100;
/** Longest wait between two attempts in milliseconds. After a link that lasted longer, the wait starts over. */
const LAST_RETRY_MS = 5_000;
/** Most different errors that are reported until the next connect. */
const MOST_REPORTS = 10;
/** How long `close` waits for messages that are not sent yet, in milliseconds. */
const FLUSH_MS = 1_000;

/** Connection of a bus to its server. Opens a new link whenever one breaks. */
export class ServerConnection implements BusConnection {
  readonly #server: BusServer;
  readonly #handlers: BusHandlers;
  readonly #options: Required<ConnectionOptions>;
  readonly #channels: BusChannels;
  readonly #name: string = newSender();
  readonly #running: Promise<void>;
  /** Messages of reported errors, since the last connect. */
  readonly #reported: Set<string> = new Set();
  #sender: LinkSender | null = null;
  #sent = 0;
  /** Whether a message was dropped since the last connect. */
  #isOverloaded = false;
  #isClosed = false;
  /** Ends the current link or wait. */
  #current: AbortController = new AbortController();

  constructor(server: BusServer, node: string, handlers: BusHandlers, options: ConnectionOptions) {
    this.#server = server;
    this.#handlers = safeHandlers(handlers);
    this.#options = { clock: systemClock, random: Math.random, ...options };
    const { channel } = options;
    this.#channels = { all: channel, own: nodeChannel(channel, node) };
    this.#running = this.#run();
  }

  get isConnected(): boolean {
    return this.#sender !== null;
  }

  send(
    to: string | null,
    text: string,
    { isDroppable = false }: { readonly isDroppable?: boolean } = {},
  ): void {
    const refusal = refusalOf(text, this.#options.maxBytes);
    if (refusal) queueMicrotask(() => this.#fail(refusal));
    if (refusal || !this.#sender || this.#isClosed) return;
    const { all } = this.#channels;
    const channel = to === null ? all : nodeChannel(all, to);
    const payload = encodeFrame(this.#name, ++this.#sent, text);
    if (this.#sender.add({ channel, payload }, isDroppable) || isDroppable) return;
    if (!this.#isOverloaded) queueMicrotask(() => this.#fail(overloaded(this.#server.name)));
    this.#isOverloaded = true;
  }

  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      await this.#flush();
      this.#current.abort();
    }
    await this.#running;
  }

  async #flush(): Promise<void> {
    const sender = this.#sender;
    if (!sender) return;
    const sent = new AbortController();
    void sender.sent().then(() => sent.abort());
    await pause(FLUSH_MS, this.#options.clock, sent.signal);
  }

  async #run(): Promise<void> {
    const { clock, random } = this.#options;
    await Promise.resolve(); // so that no handler is called from within `open`
    for (let failures = 0; !this.#isClosed;) {
      const livedMs = await this.#connect((this.#current = new AbortController()));
      failures = livedMs > LAST_RETRY_MS ? 1 : failures + 1;
      if (this.#isClosed) return;
      const longest = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
      this.#current = new AbortController();
      // randomized, so that not all processes connect to a starting server at the same time
      await pause(longest * (0.5 + random() / 2), clock, this.#current.signal);
    }
  }

  /** Opens a link and uses it until it breaks. Returns how many milliseconds it was used. */
  async #connect(current: AbortController): Promise<number> {
    const { clock, timeoutMs, pingMs } = this.#options;
    const { signal } = current;
    const now = monotonicOf(clock);
    const link = this.#server.open(this.#channels, {
      received: (payload) => this.#receive(payload),
      broken: (error) => current.abort(error),
    });
    let connectedAt = Number.POSITIVE_INFINITY;
    try {
      await within(link.ready, timeoutMs, clock, signal);
      connectedAt = now();
      this.#sender = new LinkSender((messages) => this.#publish(link, messages, current));
      this.#reported.clear();
      this.#isOverloaded = false;
      if (!this.#isClosed) this.#handlers.connected();
      for (;;) {
        await pause(pingMs, clock, signal);
        signal.throwIfAborted();
        await within(link.ping(), timeoutMs, clock, signal);
      }
    } catch (error) {
      this.#sender = null;
      current.abort();
      const { name, explain } = this.#server;
      this.#failOnce(AgentError.is(error) ? error : disconnected(name, explain(error)));
    }
    await link.close();
    return Math.max(0, now() - connectedAt);
  }

  async #publish(
    link: BusLink,
    messages: readonly BusMessage[],
    current: AbortController,
  ): Promise<void> {
    const { clock, timeoutMs } = this.#options;
    try {
      await within(link.publish(messages), timeoutMs, clock, current.signal);
    } catch (error) {
      if (!this.#server.isRefusal(error)) {
        current.abort(error);
        throw error;
      }
      if (messages.length > 1 && this.#server.isOfText?.(error))
        return this.#publishHalves(link, messages, current);
      this.#failOnce(refused(this.#server.name, this.#server.explain(error)));
    }
  }

  /** Finds the refused message of a batch by halves, and sends the others. */
  async #publishHalves(
    link: BusLink,
    messages: readonly BusMessage[],
    current: AbortController,
  ): Promise<void> {
    const middle = messages.length >> 1;
    await this.#publish(link, messages.slice(0, middle), current);
    await this.#publish(link, messages.slice(middle), current);
  }

  #receive(payload: string): void {
    const message = decodeFrame(payload);
    if (message && message.sender !== this.#name && !this.#isClosed)
      this.#handlers.received(message.text);
  }

  #failOnce(error: AgentError): void {
    if (this.#reported.has(error.message) || this.#reported.size === MOST_REPORTS) return;
    this.#reported.add(error.message);
    this.#fail(error);
  }

  #fail(error: AgentError): void {
    if (!this.#isClosed) this.#handlers.failed(error);
  }
}
