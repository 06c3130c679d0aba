import { backoffMs } from '../errors/error-policy.ts';
import { BroadcastError, type Broadcaster } from './broadcaster.ts';
import {
  callListener,
  reportChange,
  reportDrop,
  type Drop,
  type TransportChange,
} from './delivery-reports.ts';
import { isLast, type Envelope } from './envelope.ts';
import { refusesAll, TransportGate, type GateGuest } from './transport-gate.ts';
import { quietTimer, TransportCall, type Timer } from './transport-call.ts';
import { EnvelopeBuffer } from './envelope-buffer.ts';

export interface BroadcastStats {
  /** Envelopes that wait or are in flight. */
  readonly queued: number;
  readonly sent: number;
  /** Envelopes that were dropped. */
  readonly dropped: number;
  /** Calls that were retried. */
  readonly retried: number;
  /** Calls that failed. */
  readonly failed: number;
}

export interface DeliveryOptions {
  /** Milliseconds after which a call counts as failed. Default 10,000. */
  readonly callTimeoutMs?: number;
  /** Maximum attempts of a call before its envelopes are dropped. Default 6. */
  readonly maxTries?: number;
  /** Called for every call that failed, including calls that are retried. */
  readonly onError?: (error: unknown) => void;
  /** Called for dropped envelopes. Default: `console.error` for the first of a queue. */
  readonly onDrop?: (drop: Drop) => void;
  /** Called when wrong credentials or a wrong address pause a transport for all sessions. Default: `console.error`. */
  readonly onTransport?: (change: TransportChange) => void;
}

export interface QueueOptions extends DeliveryOptions {
  readonly broadcaster: Broadcaster;
  readonly channel: string;
  readonly queueSize: number;
}

/** Envelopes of one call. */
interface Parcel {
  readonly envelopes: readonly Envelope[];
  tries: number;
}

const BACKOFF = { initialMs: 250, factor: 2, maxMs: 10_000, jitter: 0.5 };
const MAX_RETRY_AFTER_MS = 60_000;
/** Factor on `maxTries` for the last envelope of a run while no other envelope waits. */
const LAST_ENVELOPE_FACTOR = 3;

/**
 * Sends the envelopes of one channel in order, one call at a time, without delaying the run. Drops and counts what
 * the transport does not accept in time.
 */
export class EnvelopeQueue {
  readonly #options: QueueOptions;
  readonly #buffer: EnvelopeBuffer;
  readonly #call: TransportCall;
  readonly #gate: TransportGate;
  readonly #guest: GateGuest;
  /** Sent before anything in the buffer: a call to retry, or parts of a batch that was refused as a whole. */
  readonly #again: Parcel[] = [];
  readonly #waiters: Set<() => void> = new Set();
  readonly #flushes: Set<(isOut: boolean) => void> = new Set();
  #current: Parcel | null = null;
  #isScheduled = false;
  #isPumping = false;
  #isClosed = false;
  /** Timer of the wait before the next attempt. */
  #pause: Timer | null = null;
  #sent = 0;
  #dropped = 0;
  #retried = 0;
  #failed = 0;
  #failedInRow = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
    const { broadcaster, channel, queueSize, callTimeoutMs = 10_000 } = options;
    this.#buffer = new EnvelopeBuffer(queueSize);
    this.#call = new TransportCall(broadcaster, channel, callTimeoutMs);
    this.#gate = TransportGate.of(broadcaster, this.#report);
    this.#guest = {
      tries: () => {
        if (this.isEmpty || this.#current !== null || this.#pause !== null) return false;
        this.#pump();
        return true;
      },
      opened: () => this.#pump(),
      refused: (error) => {
        this.#keepStatus(error);
        for (const end of Array.from(this.#flushes)) end(false);
      },
    };
  }

  get isEmpty(): boolean {
    return this.#buffer.length === 0 && this.#current === null && this.#again.length === 0;
  }

  get stats(): BroadcastStats {
    let queued = this.#buffer.length + (this.#current?.envelopes.length ?? 0);
    for (const { envelopes } of this.#again) queued += envelopes.length;
    return {
      queued,
      sent: this.#sent,
      dropped: this.#dropped,
      retried: this.#retried,
      failed: this.#failed,
    };
  }

  /** Adds an envelope and returns immediately. Never throws. */
  push(envelope: Envelope): void {
    if (this.#isClosed) return this.#drop([envelope], 'closed');
    const left = this.#buffer.add(envelope);
    if (left.length > 0) this.#drop(left, 'overflow');
    if (this.#isScheduled || this.#current !== null || this.#pause !== null) return;
    this.#isScheduled = true;
    queueMicrotask(this.#pump);
  }

  /**
   * Calls `done` once, when nothing waits or is in flight; immediately, if that is so now. Returns a function that
   * cancels.
   */
  whenEmpty(fn: () => void): () => void {
    if (this.isEmpty) {
      fn();
      return () => {};
    }
    const own = (): void => fn();
    this.#waiters.add(own);
    return () => this.#waiters.delete(own);
  }

  /**
   * Resolves with true when every envelope is sent or dropped, with false after the timeout or if the transport is
   * paused.
   */
  flush(timeoutMs: number = 5_000): Promise<boolean> {
    if (this.isEmpty) return Promise.resolve(true);
    if (!this.#gate.hurry(this.#guest) || this.isEmpty) return Promise.resolve(this.isEmpty);
    return new Promise((resolve) => {
      const end = (isOut: boolean): void => {
        clearTimeout(timer);
        forget();
        this.#flushes.delete(end);
        resolve(isOut);
      };
      // keep the process alive: the caller waits for this
      const timer = setTimeout(end, timeoutMs, false);
      this.#flushes.add(end);
      const forget = this.whenEmpty(() => end(true));
    });
  }

  /** Flushes, then drops what is left and accepts nothing more. */
  async close(timeoutMs?: number): Promise<boolean> {
    const isOut = await this.flush(timeoutMs);
    this.abandon();
    return isOut;
  }

  /** Drops what is left immediately and accepts nothing more. */
  abandon(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#gate.leave(this.#guest);
    if (this.#pause !== null) clearTimeout(this.#pause);
    const parcels = this.#current ? [this.#current, ...this.#again] : this.#again;
    const left = [...parcels.flatMap(({ envelopes }) => envelopes), ...this.#buffer.takeAll()];
    this.#current = null;
    this.#again.length = 0;
    this.#call.close();
    if (left.length > 0) this.#drop(left, 'closed', this.#gate.error);
    this.#settle();
  }

  readonly #pump = (): void => {
    this.#isScheduled = false;
    this.#isPumping = true;
    const { broadcaster, channel } = this.#options;
    while (this.#current === null && this.#pause === null) {
      if (this.#buffer.length === 0 && this.#again.length === 0) break;
      if (this.#gate.isPaused && !this.#gate.enter(this.#guest)) {
        this.#keepStatus(this.#gate.error);
        break;
      }
      let parcel = this.#again.shift();
      if (parcel === undefined) {
        parcel = { envelopes: this.#buffer.take(broadcaster, channel), tries: 0 };
      }
      this.#send(parcel);
    }
    this.#isPumping = false;
    this.#settle();
  };

  #send(parcel: Parcel): void {
    this.#current = parcel;
    parcel.tries += 1;
    this.#call.begin(parcel.envelopes, (failure) => {
      this.#current = null;
      if (failure) this.#refused(parcel, failure.error);
      else {
        this.#sent += parcel.envelopes.length;
        this.#failedInRow = 0;
        this.#gate.passed();
      }
      if (!this.#isPumping) this.#pump();
    });
  }

  #refused(parcel: Parcel, error: unknown): void {
    const { envelopes, tries } = parcel;
    const { maxTries = 6, onError } = this.#options;
    this.#failed += 1;
    this.#failedInRow += 1;
    if (onError) callListener(onError, error);
    if (refusesAll(error)) {
      this.#again.unshift(parcel);
      this.#gate.pause(error, this.#report);
      return this.#guest.refused(error);
    }
    this.#gate.unclear();
    if (BroadcastError.is(error) && !error.retryable) {
      if (envelopes.length === 1) return this.#drop(envelopes, 'refused', error);
      // one of them may be the cause, and the others should arrive
      const half = Math.ceil(envelopes.length / 2);
      const halves = [envelopes.slice(0, half), envelopes.slice(half)];
      this.#again.unshift(...halves.map((part) => ({ envelopes: part, tries: 0 })));
      return;
    }
    if (tries < maxTries) this.#again.unshift(parcel);
    else this.#giveUp(parcel, error);
    if (this.#again.length > 0) this.#retried += 1;
    this.#backOff(error);
  }

  /** Retries the end of a run longer if no other envelope waits: readers wait for it. */
  #giveUp({ envelopes, tries }: Parcel, error: unknown): void {
    const { maxTries = 6 } = this.#options;
    const last = envelopes.at(-1);
    const isNext = this.#buffer.length > 0 || this.#again.length > 0;
    if (!last || !isLast(last) || isNext || tries >= maxTries * LAST_ENVELOPE_FACTOR)
      return this.#drop(envelopes, 'gave_up', error);
    if (envelopes.length > 1) this.#drop(envelopes.slice(0, -1), 'gave_up', error);
    this.#again.push({ envelopes: [last], tries });
  }

  /**
   * Drops all but the newest status during a long pause: the status shows readers that they missed something, and the
   * log has it.
   */
  #keepStatus(error: unknown): void {
    const left = this.#buffer.keepStatus(
      this.#again.splice(0).flatMap(({ envelopes }) => envelopes),
    );
    if (left.length > 0) this.#drop(left, 'refused', error);
    this.#settle();
  }

  /** Waits before the next attempt, at least as long as the transport asks. */
  #backOff(error: unknown): void {
    const asked = BroadcastError.is(error) ? (error.retryAfterMs ?? 0) : 0;
    const wait = backoffMs(BACKOFF, this.#failedInRow, Math.random());
    const ms = Math.max(wait, Math.min(asked, MAX_RETRY_AFTER_MS));
    this.#pause = quietTimer(() => {
      this.#pause = null;
      this.#pump();
    }, ms);
  }

  #drop(envelopes: readonly Envelope[], reason: Drop['reason'], error: unknown = null): void {
    const isFirst = this.#dropped === 0;
    this.#dropped += envelopes.length;
    const { onDrop } = this.#options;
    const drop = { envelopes, reason, error };
    if (onDrop) callListener(onDrop, drop);
    else if (isFirst && !refusesAll(error)) reportDrop(drop, this.#options);
  }

  readonly #report = (change: TransportChange): void =>
    (this.#options.onTransport ?? reportChange)(change);

  #settle(): void {
    if (this.#waiters.size === 0 || !this.isEmpty) return;
    const waiters = Array.from(this.#waiters);
    this.#waiters.clear();
    for (const wake of waiters) wake();
  }
}
