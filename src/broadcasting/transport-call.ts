import { BroadcastError, type Broadcaster } from './broadcaster.ts';
import type { Envelope } from './envelope.ts';

/** Null when the envelopes arrived. */
export type Done = (failure: { readonly error: unknown } | null) => void;

/** A signal is not made anew for each call; what clients leave hanging on one stays bounded. */
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
  /** One timer watches over all calls: it looks again when it finds a younger one. */
  #watch: Timer | null = null;

  constructor(broadcaster: Broadcaster, channel: string, timeoutMs: number) {
    this.#broadcaster = broadcaster;
    this.#channel = channel;
    this.#timeoutMs = timeoutMs;
  }

  /** Calls `done` once: before it returns where the transport does not take time, else later. */
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
    // a call that was given up may still end, and has nothing more to say
    calling.then(
      () => this.#done === done && this.#end(null),
      (error: unknown) => this.#done === done && this.#end({ error }),
    );
  }

  /** Lets go of a call that is on its way, without another word. */
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
    // timers may fire a little early
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

/** One that does not keep a process alive, where there are processes. */
export function quietTimer(fn: () => void, ms: number): Timer {
  const timer: Timer = setTimeout(fn, ms);
  if (typeof timer === 'object') timer.unref?.();
  return timer;
}
