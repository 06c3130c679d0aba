import { BroadcastError, type Broadcaster } from './broadcaster.ts';
import type { Envelope } from './envelope.ts';

/** Called with null when the envelopes arrived, else with the failure. */
export type Done = (failure: { readonly error: unknown } | null) => void;

/** Calls that share a signal: creating one per call is slow, and listeners that clients leave on it stay bounded. */
const CALLS_PER_SIGNAL = 50;

/** Makes one call at a time to a transport that may throw, fail or hang. */
export class TransportCall {
  readonly #broadcaster: Broadcaster;
  readonly #channel: string;
  readonly #timeoutMs: number;
  #controller: AbortController = new AbortController();
  #callsOfSignal = 0;
  #done: Done | null = null;
  #began = 0;
  /** One timer for all calls: it is set again if it finds a younger call. */
  #watch: Timer | null = null;

  constructor(broadcaster: Broadcaster, channel: string, timeoutMs: number) {
    this.#broadcaster = broadcaster;
    this.#channel = channel;
    this.#timeoutMs = timeoutMs;
  }

  /** Calls `done` once: synchronously if the transport returns at once, else later. */
  begin(envelopes: readonly Envelope[], done: Done): void {
    let calling: Promise<void> | void;
    try {
      calling = this.#call(envelopes);
    } catch (error) {
      return done({ error });
    }
    if (typeof calling?.then !== 'function') return done(null);
    this.#done = done;
    this.#began = performance.now();
    this.#watch ??= quietTimer(this.#check, this.#timeoutMs);
    // a call that timed out may still end; ignore its result
    calling.then(
      () => this.#done === done && this.#end(null),
      (error: unknown) => this.#done === done && this.#end({ error }),
    );
  }

  /** Ends a call in flight without calling `done`. */
  close(): void {
    const isBusy = this.#done !== null;
    this.#done = null;
    if (this.#watch !== null) clearTimeout(this.#watch);
    this.#watch = null;
    if (isBusy) this.#abort(new BroadcastError('The queue was closed.', { retryable: false }));
  }

  #call(envelopes: readonly Envelope[]): Promise<void> | void {
    const broadcaster = this.#broadcaster;
    const channel = this.#channel;
    const [first] = envelopes;
    if (++this.#callsOfSignal > CALLS_PER_SIGNAL) this.#renew();
    const { signal } = this.#controller;
    return envelopes.length === 1 && first !== undefined
      ? broadcaster.broadcast(channel, first, signal)
      : broadcaster.broadcastBatch(
          envelopes.map((envelope) => ({ channel, envelope })),
          signal,
        );
  }

  #end(failure: Parameters<Done>[0]): void {
    const done = this.#done;
    this.#done = null;
    done?.(failure);
  }

  readonly #check = (): void => {
    this.#watch = null;
    if (this.#done === null) return;
    const left = this.#began + this.#timeoutMs - performance.now();
    // timers may fire slightly early
    if (left > 1) {
      this.#watch = quietTimer(this.#check, left);
      return;
    }
    const message = `${this.#broadcaster.name} did not answer within ${this.#timeoutMs} ms.`;
    const error = new BroadcastError(message, { retryable: true });
    this.#abort(error);
    this.#end({ error });
  };

  #abort(reason: BroadcastError): void {
    const controller = this.#controller;
    this.#renew();
    controller.abort(reason);
  }

  #renew(): void {
    this.#controller = new AbortController();
    this.#callsOfSignal = 0;
  }
}

export type Timer = ReturnType<typeof setTimeout>;

/** Creates a timer that does not keep a Node process alive. */
export function quietTimer(fn: () => void, ms: number): Timer {
  const timer: Timer = setTimeout(fn, ms);
  if (typeof timer === 'object') timer.unref?.();
  return timer;
}
