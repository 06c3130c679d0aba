import type { Envelope } from './envelope.ts';

export interface Broadcast {
  readonly channel: string;
  readonly envelope: Envelope;
}

/**
 * Carries envelopes to clients. It may fail, hang or be slow: the queue makes one call at a time, retries failed
 * calls and never delays a run. Every broadcaster must pass the contract suite in `onward/testing`.
 */
export interface Broadcaster {
  readonly name: string;
  /** Maximum bytes of one call, as `frameCost` counts them. The queue splits larger batches. Absent: no limit. */
  readonly frameBytes?: number;
  /** Maximum envelopes of one `broadcastBatch`. Absent: no limit. */
  readonly batchSize?: number;
  /** Returns the bytes of `frameBytes` that an envelope uses on this wire. Default: the bytes of its JSON. */
  frameCost?(broadcast: Broadcast): number;
  /** Loads what the broadcaster needs before the first run. Rejects with what is missing. */
  ready?(): Promise<void>;
  broadcast(channel: string, envelope: Envelope, signal?: AbortSignal): Promise<void> | void;
  /** Sends a batch in order, and all or nothing if the transport supports it. */
  broadcastBatch(broadcasts: readonly Broadcast[], signal?: AbortSignal): Promise<void> | void;
}

/** An error of a broadcaster that knows whether a retry can help. */
export class BroadcastError extends Error {
  override readonly name = 'BroadcastError';
  /** Whether a retry can help. If false, the frame is dropped and counted. */
  readonly retryable: boolean;
  /** Milliseconds that the transport asks to wait before the next call. */
  readonly retryAfterMs: number | null;
  /** Whether the transport would refuse every frame. The queue then pauses it and retries rarely. */
  readonly pauses: boolean;
  constructor(
    message: string,
    options: ErrorOptions & {
      readonly retryable: boolean;
      readonly retryAfterMs?: number | null;
      readonly pauses?: boolean;
    },
  ) {
    super(message, options);
    this.retryable = options.retryable;
    this.pauses = options.pauses ?? false;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }

  /** Whether `error` is a `BroadcastError`. Works across duplicate installs, where `instanceof` does not. */
  static is(error: unknown): error is BroadcastError {
    const candidate = error as Partial<BroadcastError> | null | undefined;
    return candidate?.name === 'BroadcastError' && typeof candidate.retryable === 'boolean';
  }
}
