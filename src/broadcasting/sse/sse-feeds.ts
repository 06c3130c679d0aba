import type { FeedStart } from '../../sessions/feed/feed-sink.ts';
import { feedsOf } from '../../sessions/feed/feeds-of.ts';
import type { FeedPolling } from '../../sessions/feed/session-tail.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { BroadcastConfig, type BroadcastSettings } from '../broadcast-config.ts';
import { SseEncoder } from './sse-encoder.ts';
import { SseFeedReader } from './sse-feed-reader.ts';
import type { SsePlace } from './sse-frame.ts';

/** Options of one client that follows a session. Check first that it may; every page checks the owner again. */
export interface SseFeedOptions {
  readonly runtime: SessionRuntime;
  readonly owner: string;
  /** Which envelopes are sent. Default: `BroadcastConfig.standard()`. */
  readonly config?: BroadcastSettings;
  /** Log position of the client; 'lost' if it is not valid. Absent: the beginning of the newest execution. */
  readonly place?: SsePlace | 'lost' | null;
  /** Events per read of the log. Default 200. */
  readonly pageSize?: number;
}

export interface SseFeedsHost {
  readonly bufferBytes: number;
  readonly polling: FeedPolling | null;
  behind(): void;
  failed(error: unknown): void;
}

/** The sessions of one runtime for one config. All readers of a session share an encoder. */
interface Channel {
  readonly encoder: SseEncoder;
  readonly unlisten: () => void;
  readers: number;
}

function startOf(place: SsePlace | 'lost' | null): FeedStart {
  if (place === 'lost') return { isLost: true };
  if (place === null) return {};
  const { executionId, after: seq } = place;
  return executionId === null ? { seq } : { after: { executionId, seq } };
}

const standard = BroadcastConfig.standard();

/** All clients of a hub that follow sessions. */
export class SseFeeds {
  readonly #host: SseFeedsHost;
  readonly #channels: Map<string, Map<BroadcastSettings, Channel>> = new Map();
  readonly #runtimes: Map<string, SessionRuntime> = new Map();

  constructor(host: SseFeedsHost) {
    this.#host = host;
  }

  get size(): number {
    return this.#channels.size;
  }

  open(sessionId: string, options: SseFeedOptions): SseFeedReader {
    const { runtime, owner, config = standard, place = null, pageSize } = options;
    const channel = this.#join(sessionId, runtime, config);
    const { bufferBytes, polling, behind, failed } = this.#host;
    const left = (): void => this.#leave(sessionId, config);
    const reader = new SseFeedReader(channel.encoder, { bufferBytes, behind, failed, left }, place);
    const feed = feedsOf(runtime).open(sessionId, reader, {
      owner,
      polling,
      pageSize,
      ...startOf(place),
    });
    void reader.follow(feed).catch(() => {}); // the caller that waits for its start gets the error
    return reader;
  }

  wake(sessionId: string): void {
    const runtime = this.#runtimes.get(sessionId);
    if (runtime) feedsOf(runtime).wake(sessionId);
  }

  #join(sessionId: string, runtime: SessionRuntime, config: BroadcastSettings): Channel {
    const ofSession = this.#channels.get(sessionId) ?? new Map<BroadcastSettings, Channel>();
    this.#channels.set(sessionId, ofSession);
    this.#runtimes.set(sessionId, runtime);
    const known = ofSession.get(config);
    if (known) {
      known.readers += 1;
      return known;
    }
    const { live } = feedsOf(runtime);
    const encoder = new SseEncoder(sessionId, config);
    // the encoder continues texts that have begun
    for (const piece of live.localText(sessionId)?.events ?? []) encoder.live(piece);
    const unlisten = live.listen(sessionId, (event) => void encoder.live(event));
    const channel: Channel = { encoder, unlisten, readers: 1 };
    ofSession.set(config, channel);
    return channel;
  }

  #leave(sessionId: string, config: BroadcastSettings): void {
    const ofSession = this.#channels.get(sessionId);
    const channel = ofSession?.get(config);
    if (!ofSession || !channel || --channel.readers > 0) return;
    channel.unlisten();
    ofSession.delete(config);
    if (ofSession.size > 0) return;
    this.#channels.delete(sessionId);
    this.#runtimes.delete(sessionId);
  }
}
