import type { AgentEvent } from '../events/agent-event.ts';
import type { BroadcastSettings } from './broadcast-config.ts';
import type { Envelope } from './envelope.ts';
import { envelopeOf, type EnvelopeOfEvent } from './envelope-of.ts';
import { StreamEnvelopes } from './stream-envelopes.ts';

export interface EncoderOptions {
  readonly sessionId: string;
  readonly executionId: string;
  /** Number after which the count continues on a resume. */
  readonly after?: number | undefined;
}

/** Creates the envelopes of one execution in order from its events. */
export class EnvelopeEncoder {
  readonly #sessionId: string;
  readonly #envelopeOf: EnvelopeOfEvent;
  readonly #stream: StreamEnvelopes | null;
  readonly #push: (envelope: Envelope) => void;
  #seq: number;
  /** Null until the first numbered event, unless `after` is given. */
  #prev: number | null;

  constructor(
    options: EncoderOptions,
    config: BroadcastSettings,
    push: (envelope: Envelope) => void,
  ) {
    this.#sessionId = options.sessionId;
    this.#envelopeOf = envelopeOf(config);
    this.#stream = config.includeStream ? new StreamEnvelopes(options, config) : null;
    this.#push = push;
    this.#seq = options.after ?? 0;
    this.#prev = options.after ?? null;
  }

  /** Number of the last event, sent or filtered. */
  get seq(): number {
    return this.#seq;
  }

  /** Encodes an event with its number in the log, null for streamed events. */
  take(event: AgentEvent, seq: number | null): void {
    const stream = this.#stream;
    if (seq === null) {
      stream?.send(event, this.#push);
      return;
    }
    this.#seq = seq;
    this.#prev ??= seq - 1;
    stream?.closing(event, this.#push);
    const envelope = this.#envelopeOf(event, this.#sessionId, seq, this.#prev);
    if (envelope === null) return;
    this.#prev = seq;
    this.#push(envelope);
  }
}
