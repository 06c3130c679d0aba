import type { LiveEvent, LiveStreamed } from '../../sessions/feed/live-source.ts';
import type { BroadcastSettings } from '../broadcast-config.ts';
import type { Envelope } from '../envelope.ts';
import { EnvelopeEncoder } from '../envelope-encoder.ts';
import { sseFrame, type SseFrame } from './sse-frame.ts';

/** Encodes the events of one session for one config: what is live, once for all its readers. */
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

  /** Given every live event in order, by the listener of the session or by the first reader. */
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

  /** Of texts from their beginning, those that are not known. */
  text(
    events: readonly LiveStreamed[],
    known: ReadonlySet<LiveStreamed> = new Set(),
  ): readonly SseFrame[] {
    const [first] = events;
    if (!first) return [];
    let envelopes: Envelope[] = [];
    const frames: SseFrame[] = [];
    // pieces that are too large are split, which moves the ones behind: so all are encoded
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
