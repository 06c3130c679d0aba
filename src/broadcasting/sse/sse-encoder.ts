import type { LiveEvent, LiveStreamed } from '../../sessions/feed/live-source.ts';
import type { BroadcastSettings } from '../broadcast-config.ts';
import type { Envelope } from '../envelope.ts';
import { EnvelopeEncoder } from '../envelope-encoder.ts';
import { sseFrame, type SseFrame } from './sse-frame.ts';

/** Encodes the events of one session for one config, live events once for all readers. */
export class SseEncoder {
  readonly config: BroadcastSettings;
  readonly #sessionId: string;
  #executionId = '';
  #encoder: EnvelopeEncoder | null = null;
  #event: LiveEvent | null = null;
  #frames: SseFrame[] = [];

  constructor(sessionId: string, config: BroadcastSettings) {
    this.config = config;
    this.#sessionId = sessionId;
  }

  /** Encodes a live event. The listener of the session or the first reader passes every event, in order. */
  live(live: LiveEvent): readonly SseFrame[] {
    if (this.#event === live) return this.#frames;
    const { event, seq } = live;
    if (!this.#encoder || this.#executionId !== event.executionId) {
      this.#executionId = event.executionId;
      this.#encoder = this.#encoderOf(event.executionId, (envelope) => {
        this.#frames.push(sseFrame(envelope));
      });
    }
    this.#event = live;
    this.#frames = [];
    this.#encoder.take(event, seq);
    return this.#frames;
  }

  /** Encodes texts from their beginning, without those in `known`. */
  text(
    events: readonly LiveStreamed[],
    known: ReadonlySet<LiveStreamed> = new Set(),
  ): readonly SseFrame[] {
    const [first] = events;
    if (!first) return [];
    let envelopes: Envelope[] = [];
    const frames: SseFrame[] = [];
    // a chunk that is too large is split, which shifts the index of later ones: so encode all
    const encoder = this.#encoderOf(first.event.executionId, (envelope) => {
      envelopes.push(envelope);
    });
    for (const live of events) {
      envelopes = [];
      encoder.take(live.event, null);
      if (!known.has(live)) frames.push(...envelopes.map(sseFrame));
    }
    return frames;
  }

  #encoderOf(executionId: string, push: (envelope: Envelope) => void): EnvelopeEncoder {
    return new EnvelopeEncoder({ sessionId: this.#sessionId, executionId }, this.config, push);
  }
}
