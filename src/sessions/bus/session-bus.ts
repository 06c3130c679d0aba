import { AgentError } from '../../errors/agent-error.ts';
import type { BusConnection, MessageBus } from '../../bus/message-bus.ts';
import {
  isCurrentText,
  isLiveStreamed,
  type LiveEvent,
  type LogPosition,
  type RemoteListener,
  type TextSoFar,
} from '../feed/live-source.ts';
import type { StoreCodec } from '../session-store.ts';
import { decodeMessage, encodeMessage, groupIds, type BusMessage } from './bus-message.ts';
import { LiveOutbox, type LiveOutboxOptions } from './live-outbox.ts';
import { eventsOf, parseTexts, PartJoiner } from './live-text.ts';
import { answerWith, TextQuestions } from './text-exchange.ts';
import { WatchedSessions } from './watched-sessions.ts';

/** Callbacks of the bus into this process. */
export interface BusHost {
  /** Called when a session needs work. */
  woken(session: {
    readonly id: string;
    readonly owner: string;
    readonly agent: string;
    readonly isStop: boolean;
  }): void;
  /** Called when a session has changed in the store: a stop or pause was requested, or it was deleted. */
  changed(sessionId: string): void;
  /** Called on each connection. Earlier messages may be lost, so read the store. */
  connected(): void;
  /** Returns text that the workers of this process have streamed. */
  textSoFar(sessionId: string): TextSoFar | null;
  failed(error: unknown): void;
}

/** How often watches are repeated, in milliseconds, because a message may be lost and a worker may be new. */
const REPEAT_MS = 20_000;
/** Most characters that wait to be decoded. Further text is dropped, and readers ask for what they miss. */
const MOST_UNDECODED = 1_000_000;
/** Most bytes of the header of a message with a body. */
const HEADER_BYTES = 120;

/**
 * Exchanges messages between a runtime and the other processes of its store. A lost message causes delay, never data
 * loss.
 */
export class SessionBus {
  readonly #node: string;
  readonly #bus: MessageBus;
  readonly #limits: Pick<LiveOutboxOptions, 'maxBytes' | 'encode'>;
  readonly #codec: StoreCodec | undefined;
  readonly #connection: BusConnection;
  readonly #host: BusHost;
  /** Sessions that other nodes follow. */
  readonly #watched: WatchedSessions = new WatchedSessions();
  readonly #questions: TextQuestions = new TextQuestions();
  readonly #outbox: LiveOutbox;
  /** Listeners in this process, by session. */
  readonly #watchers: Map<string, Set<RemoteListener>> = new Map();
  readonly #parts: PartJoiner = new PartJoiner();
  /** Decodes received bodies in order, because decoding may be asynchronous. */
  #received: Promise<void> | null = null;
  /** Number of characters that wait to be decoded. */
  #undecoded = 0;
  /** Whether an unreadable message, or a slow codec, was reported since the last connect. */
  #hasReported = false;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(bus: MessageBus, node: string, codec: StoreCodec | undefined, host: BusHost) {
    const { maxBytes } = bus;
    this.#bus = bus;
    this.#node = node;
    this.#host = host;
    this.#codec = codec;
    this.#limits = {
      maxBytes: maxBytes - HEADER_BYTES,
      encode: (body) => (codec ? codec.encode(body) : body),
    };
    this.#outbox = new LiveOutbox({
      ...this.#limits,
      sendTexts: (to, body) => this.#send(to, { kind: 'live' }, { body, isDroppable: true }),
      sendChanged: (to, ids) => this.#sendIds(to, 'changed', ids),
      failed: (error) => host.failed(error),
    });
    this.#connection = bus.open(node, {
      received: (text) => this.#receive(text),
      connected: () => this.#connected(),
      failed: (error) => host.failed(error),
    });
  }

  get isConnected(): boolean {
    return this.#connection.isConnected;
  }

  /** Asks the workers of other processes to work on a session. */
  wake(
    session: { readonly id: string; readonly owner: string; readonly agent: string },
    isStop: boolean,
  ): void {
    const { id: sessionId, owner, agent } = session;
    this.#send(null, { kind: 'wake', sessionId, owner, agent, isStop });
  }

  /** Notifies all processes that a session has changed in the store. */
  changed(sessionId: string): void {
    this.#send(null, { kind: 'changed', sessionIds: [sessionId] });
  }

  /** Notifies the processes that watch a session that its work has ended or paused here. */
  settled(sessionId: string): void {
    if (!this.#watched.isWatched(sessionId)) return;
    for (const node of this.#watched.nodesOf(sessionId)) this.#outbox.addChanged(node, sessionId);
    this.#outbox.flush();
  }

  /** Sends an event of a worker in this process to the nodes that watch its session. */
  forward(live: LiveEvent): void {
    if (!this.#watched.isWatched(live.sessionId) || !this.isConnected) return;
    for (const node of this.#watched.nodesOf(live.sessionId))
      if (isLiveStreamed(live)) this.#outbox.add(node, live);
      else this.#outbox.addChanged(node, live.sessionId);
  }

  /** Notifies the listener of work on the session in other processes, until the returned function is called. */
  watch(sessionId: string, listener: RemoteListener): () => void {
    const own: RemoteListener = {
      text: (live) => listener.text(live),
      changed: () => listener.changed(),
    };
    const watchers = this.#watchers.get(sessionId) ?? new Set();
    if (watchers.size === 0) this.#sendIds(null, 'watch', [sessionId]);
    this.#watchers.set(sessionId, watchers.add(own));
    this.#timer ??= setInterval(() => this.#repeatWatches(), REPEAT_MS);
    return () => {
      if (watchers.delete(own) && watchers.size === 0) this.#unwatch(sessionId);
    };
  }

  /** Asks the worker in another process for the text so far. Resolves with null if none answers in time. */
  textSoFar(sessionId: string, position: LogPosition): Promise<TextSoFar | null> | null {
    if (!this.isConnected) return null;
    return this.#questions.ask(sessionId, (question) =>
      this.#send(null, { kind: 'ask', node: this.#node, question, sessionId, ...position }),
    );
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#sendIds(null, 'unwatch', this.#watchers.keys());
    this.#outbox.close();
    this.#questions.close();
    await this.#connection.close();
  }

  #unwatch(sessionId: string): void {
    this.#watchers.delete(sessionId);
    this.#sendIds(null, 'unwatch', [sessionId]);
    if (this.#watchers.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #repeatWatches(to: string | null = null): void {
    this.#sendIds(to, 'watch', this.#watchers.keys());
  }

  #connected(): void {
    this.#hasReported = false;
    this.#repeatWatches();
    this.#send(null, { kind: 'hello', node: this.#node });
    this.#host.connected();
    for (const sessionId of Array.from(this.#watchers.keys())) this.#notifyChanged(sessionId);
  }

  #notifyChanged(sessionId: string): void {
    for (const watcher of this.#watchers.get(sessionId) ?? []) watcher.changed();
  }

  #sendIds(to: string | null, kind: 'changed' | 'watch' | 'unwatch', ids: Iterable<string>): void {
    const node = this.#node;
    for (const sessionIds of groupIds(ids, this.#bus.maxBytes))
      this.#send(to, kind === 'changed' ? { kind, sessionIds } : { kind, node, sessionIds });
  }

  #send(
    to: string | null,
    message: BusMessage,
    { body = '', isDroppable = false }: { body?: string; isDroppable?: boolean } = {},
  ): void {
    this.#connection.send(to, encodeMessage(message, body), { isDroppable });
  }

  #receive(text: string): void {
    const received = decodeMessage(text);
    if (!received) return;
    const { message, body } = received;
    switch (message.kind) {
      case 'wake': {
        const { sessionId: id, owner, agent, isStop } = message;
        return this.#host.woken({ id, owner, agent, isStop });
      }
      case 'changed':
        for (const id of message.sessionIds) {
          this.#host.changed(id);
          this.#notifyChanged(id);
        }
        return;
      case 'watch':
        return this.#watched.watch(message.node, message.sessionIds);
      case 'unwatch':
        return this.#watched.unwatch(message.node, message.sessionIds);
      case 'hello':
        return this.#repeatWatches(message.node);
      case 'ask':
        return this.#answer(message);
      case 'live':
        return this.#read(body, (decoded) => this.#notify(decoded));
      case 'text': {
        const { question, isLast } = message;
        if (!this.#questions.isOpen(question)) return;
        return this.#read(body, (decoded) => this.#questions.receive(question, decoded, isLast));
      }
    }
  }

  #notify(body: string): void {
    for (const text of parseTexts(body)) {
      const watchers = this.#watchers.get(text.sessionId);
      const joined = watchers && this.#parts.join(text);
      if (!joined) continue;
      for (const live of eventsOf(joined)) for (const watcher of watchers) watcher.text(live);
    }
  }

  #answer(asked: BusMessage & { readonly kind: 'ask' }): void {
    const { node, question, sessionId } = asked;
    const text = this.#host.textSoFar(sessionId);
    if (!isCurrentText(text, asked)) return;
    answerWith(text, this.#limits, (body, isLast) =>
      this.#send(node, { kind: 'text', question, isLast }, { body, isDroppable: true }),
    ).catch((error: unknown) => this.#host.failed(error));
  }

  /** Decodes the body of a message, after earlier ones. Ignores a body that is not JSON: it is from another store. */
  #read(body: string, use: (decoded: string) => void): void {
    const attempt = (decoded: string): void => {
      try {
        use(decoded);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    };
    const codec = this.#codec;
    if (!codec) return attempt(body);
    if (this.#undecoded + body.length > MOST_UNDECODED) return this.#failOnce(slowCodec());
    this.#undecoded += body.length;
    const before = this.#received;
    this.#received = (async () => {
      await before;
      attempt(await codec.decode(body));
    })()
      .catch((cause: unknown) => this.#failOnce(unreadable(cause)))
      .finally(() => (this.#undecoded -= body.length));
  }

  #failOnce(error: AgentError): void {
    if (!this.#hasReported) this.#host.failed(error);
    this.#hasReported = true;
  }
}

const unreadable = (cause: unknown): AgentError =>
  new AgentError(
    'bus_failed',
    'A message on the bus could not be decoded. Give the stores of all processes the same codec.',
    { cause },
  );

const slowCodec = (): AgentError =>
  new AgentError(
    'bus_failed',
    'Live text is dropped: the codec of the store decodes it more slowly than it arrives. Use a faster codec. Readers get ' +
      'the text when its message is finished.',
  );
