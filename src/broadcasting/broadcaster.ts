import type { Envelope } from './envelope.ts';

export interface Broadcast {
  readonly channel: string;
  readonly envelope: Envelope;
}

/**
 * Carries envelopes to clients. It may fail, hang or be slow: its caller waits for one call at a time, tries
 * again what failed, and never holds a run up. `testing` has the suite that each must pass.
 */
export interface Broadcaster {
  readonly name: string;
  /** The most bytes of one call, as `frameCost` counts them; larger batches are split. Absent: no limit. */
  readonly frameBytes?: number;
  /** The most envelopes of one `broadcastBatch`. Absent: no limit. */
  readonly batchSize?: number;
  /** What an envelope takes of `frameBytes` on this wire. Default: the bytes of its JSON. */
  frameCost?(broadcast: Broadcast): number;
  /** Loads what it needs, so that the first run does not wait for it. Rejects with what is missing. */
  ready?(): Promise<void>;
  broadcast(channel: string, envelope: Envelope, signal?: AbortSignal): Promise<void> | void;
  /** In order; all or nothing as far as the transport can. */
  broadcastBatch(broadcasts: readonly Broadcast[], signal?: AbortSignal): Promise<void> | void;
}

/** Thrown by a broadcaster that knows whether another try can help. */
export class BroadcastError extends Error {
  override readonly name = 'BroadcastError';
  /** False when the same frame would be refused again: it is dropped and counted. */
  readonly retryable: boolean;
  /** How long the transport wants to be left alone. */
  readonly retryAfterMs: number | null;
  /** True when every frame would be refused: the transport is left alone, and tried again rarely. */
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

  /** Works across duplicate installs, where `instanceof` does not. */
  static is(error: unknown): error is BroadcastError {
    const candidate = error as Partial<BroadcastError> | null | undefined;
    return candidate?.name === 'BroadcastError' && typeof candidate.retryable === 'boolean';
  }
}
