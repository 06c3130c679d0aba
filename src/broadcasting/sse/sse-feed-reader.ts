import type { FeedReader } from '../../sessions/feed/feed-reader.ts';
import type { FeedSink } from '../../sessions/feed/feed-sink.ts';
import type {
  FeedWorker,
  FollowedEvent,
  LiveEvent,
  LiveStreamed,
} from '../../sessions/feed/live-source.ts';
import { envelopeOf } from '../envelope-of.ts';
import type { Envelope } from '../envelope.ts';
import { workerNotice } from '../worker-notice.ts';
import type { SseEncoder } from './sse-encoder.ts';
import { resetFrame, sseBytes, type SsePlace } from './sse-frame.ts';
import { SseStream } from './sse-stream.ts';

/** Callbacks of the hub for one reader. */
export interface SseReaderHost {
  readonly bufferBytes: number;
  left(): void;
  behind(): void;
  failed(error: unknown): void;
}

/** Writes the events of a session's feed to one client as bytes. */
export class SseFeedReader implements FeedSink {
  readonly stream: SseStream;
  /** Resolves after the first page of the log, or rejects if the log cannot be read. */
  readonly started: Promise<void>;
  readonly #encoder: SseEncoder;
  readonly #host: SseReaderHost;
  #feed: FeedReader | null = null;
  #start: { readonly resolve: () => void; readonly reject: (e: unknown) => void } | null = null;
  #executionId: string;
  /** Number of the last envelope that the client got; filtered events do not count. */
  #shown: number;
  /** The agent of the session, once an event has named it. */
  #agentId = 'agent';
  /** Whether the client has no position. It has read the conversation, so a pruned log is no gap for it. */
  #isNew: boolean;

  /** Takes the client's log position as `place`; 'lost' if it is not valid. */
  constructor(encoder: SseEncoder, host: SseReaderHost, place: SsePlace | 'lost' | null) {
    const known = place === 'lost' ? null : place;
    this.#encoder = encoder;
    this.#host = host;
    this.#executionId = known?.executionId ?? '';
    this.#shown = known?.after ?? 0;
    this.#isNew = place === null;
    this.started = new Promise((resolve, reject) => {
      this.#start = { resolve, reject };
    });
    this.stream = new SseStream({
      wanted: () => this.#feed?.readOn(),
      ended: () => {
        this.#feed?.close();
        this.#started(null);
        host.left();
      },
    });
  }

  get isWanted(): boolean {
    return this.stream.isWanted;
  }

  follow(feed: FeedReader): Promise<void> {
    this.#feed = feed;
    feed.readOn();
    return this.started;
  }

  take(followed: FollowedEvent, isLive: boolean): void {
    const { event, seq } = followed;
    const { executionId } = event;
    if (executionId !== this.#executionId) {
      this.#executionId = executionId;
      this.#shown = 0;
    }
    const isNew = this.#isNew;
    this.#isNew = false;
    if (event.type === 'gap') {
      if (!isNew) this.stream.write(resetFrame(executionId));
      return;
    }
    if (event.type === 'worker') return this.#takeWorker(followed.sessionId, event);
    if (event.parentAgentId === null) this.#agentId = event.agentId;
    if (isLive) return this.#takeLive(followed as LiveEvent); // a gap is not live
    if (seq === null) return;
    const { sessionId } = followed;
    const envelope = envelopeOf(this.#encoder.config)(event, sessionId, seq, this.#shown);
    if (envelope) this.stream.write(this.#numbered(envelope, null));
    // the client requested it
    this.stream.owe();
  }

  takeText(events: readonly LiveStreamed[], known: ReadonlySet<LiveStreamed>): void {
    for (const { bytes } of this.#encoder.text(events, known)) this.stream.write(bytes);
    this.stream.owe();
  }

  flush(): void {
    this.stream.flush();
    this.#started(null);
  }

  /** Ends the stream. The client reconnects and then gets an error if it may not read. */
  end(error: unknown): void {
    if (error !== null) this.#host.failed(error);
    this.#started(error);
    this.stream.end();
  }

  /** Sent to every client, whatever its config: text that it shows may not continue for a while. */
  #takeWorker(sessionId: string, worker: FeedWorker): void {
    const envelope = workerNotice(sessionId, this.#agentId, worker);
    this.stream.write(sseBytes(envelope));
  }

  #takeLive(live: LiveEvent): void {
    for (const { envelope, bytes } of this.#encoder.live(live))
      this.stream.write(envelope.seq === null ? bytes : this.#numbered(envelope, bytes));
    if (this.stream.backlog <= this.#host.bufferBytes) return;
    // after the client has read its backlog, it continues in the log
    this.#host.behind();
    this.#feed?.fallBehind();
  }

  /**
   * Sets `prev` to what this client has, because filtered events between two pages or two encoders must not look like
   * a gap.
   */
  #numbered(envelope: Envelope, bytes: Uint8Array | null): Uint8Array {
    const prev = this.#shown;
    this.#shown = envelope.seq ?? prev;
    if ((envelope.prev ?? 0) > prev) return sseBytes({ ...envelope, prev });
    return bytes ?? sseBytes(envelope);
  }

  #started(error: unknown): void {
    if (error === null) this.#start?.resolve();
    else this.#start?.reject(error);
    this.#start = null;
  }
}
