import { AgentError } from '../errors/agent-error.ts';
import { backoffMs } from '../errors/error-policy.ts';
import { BroadcastError, type Broadcaster } from './broadcaster.ts';
import { callListener, type TransportChange } from './delivery-reports.ts';
import { quietTimer, type Timer } from './transport-call.ts';

/** A queue that waits while its transport is paused. */
export interface GateGuest {
  /** Makes a call now. Returns false if there is nothing to send. */
  tries(): boolean;
  /** Called when the transport works again. */
  opened(): void;
  /** Called when the last attempt was refused as well. */
  refused(error: unknown): void;
}

type Report = (change: TransportChange) => void;

/** Backoff from the first wait to the longest: an operator fixes a wrong configuration in minutes or days. */
const WAITS = { initialMs: 60_000, factor: 2, maxMs: 600_000, jitter: 0.25 };
/** Shortest time between two attempts for a queue that cannot wait, because its process ends. */
const MIN_BETWEEN_MS = 5_000;

const gates = new WeakMap<Broadcaster, TransportGate>();

/** Whether the transport would refuse every frame: wrong credentials, a wrong address, a missing package. */
export const refusesAll = (error: unknown): boolean =>
  (BroadcastError.is(error) && error.pauses) || AgentError.is(error, 'package_missing');

/**
 * Pauses all queues of a transport that refuses everything: one queue retries, rarely. Reports the pause once when it
 * starts and once when it ends.
 */
export class TransportGate {
  readonly #name: string;
  readonly #guests: Set<GateGuest> = new Set();
  /** Error that caused the pause; null while the transport is in use. */
  #error: unknown = null;
  #isPaused = false;
  #isTrying = false;
  #timer: Timer | null = null;
  #refusals = 0;
  #pausedAt = 0;
  #triedAt = 0;
  #reported: string | null = null;
  #report: Report | null = null;

  private constructor(broadcaster: Broadcaster) {
    this.#name = broadcaster.name;
  }

  /** Returns the gate of a transport. The first queue makes the transport load what it needs. */
  static of(broadcaster: Broadcaster, report: Report): TransportGate {
    let gate = gates.get(broadcaster);
    if (!gate) {
      const made = (gate = new TransportGate(broadcaster));
      gates.set(broadcaster, gate);
      broadcaster.ready?.().catch((error: unknown) => {
        if (refusesAll(error)) made.pause(error, report);
      });
    }
    return gate;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }
  get error(): unknown {
    return this.#error;
  }

  /** Whether a call may be made now. During a pause, only one call is allowed, when the wait is over. */
  enter(guest: GateGuest): boolean {
    if (!this.#isPaused) return true;
    this.#guests.add(guest);
    if (this.#timer !== null || this.#isTrying) return false;
    this.#begin();
    return true;
  }

  leave(guest: GateGuest): void {
    this.#guests.delete(guest);
  }

  /** Reports that a call succeeded. */
  passed(): void {
    if (!this.#isPaused) return;
    const pausedMs = performance.now() - this.#pausedAt;
    this.#isPaused = this.#isTrying = false;
    this.#error = null;
    this.#refusals = 0;
    this.#stopWaiting();
    this.#notify({ state: 'resumed', transport: this.#name, error: null, pausedMs });
    this.#reported = this.#report = null;
    const guests = Array.from(this.#guests);
    this.#guests.clear();
    for (const guest of guests) guest.opened();
  }

  /** Pauses the transport, because it refuses everything. */
  pause(error: unknown, report: Report): void {
    // other calls were in flight when it was paused
    if (this.#isPaused && !this.#isTrying) return;
    if (!this.#isPaused) this.#pausedAt = performance.now();
    this.#isPaused = true;
    this.#error = error;
    this.#report ??= report;
    this.#refusals += 1;
    const retryMs = this.#wait();
    const message = String(error);
    if (message !== this.#reported) {
      this.#reported = message;
      this.#notify({ state: 'paused', transport: this.#name, error, retryMs });
    }
    for (const guest of Array.from(this.#guests)) guest.refused(error);
  }

  /** Reports that the retry failed for an unrelated reason: the wait starts again with the same length. */
  unclear(): void {
    if (this.#isPaused && this.#isTrying) this.#wait();
  }

  /** Retries before the wait is over. Returns false if the last attempt was less than 5 seconds ago. */
  hurry(guest: GateGuest): boolean {
    if (!this.#isPaused) return true;
    this.#guests.add(guest);
    if (this.#isTrying) return true;
    if (performance.now() - this.#triedAt < MIN_BETWEEN_MS) return false;
    this.#due();
    return this.#isTrying || !this.#isPaused;
  }

  #wait(): number {
    this.#isTrying = false;
    this.#stopWaiting();
    const ms = backoffMs(WAITS, this.#refusals, Math.random());
    this.#triedAt = performance.now();
    this.#timer = quietTimer(() => this.#due(), ms);
    return ms;
  }

  /** Lets one waiting queue retry; if none waits, the next queue that has something to send. */
  #due(): void {
    this.#stopWaiting();
    for (const guest of Array.from(this.#guests)) if (guest.tries()) return;
  }

  #begin(): void {
    this.#isTrying = true;
    this.#triedAt = performance.now();
  }

  #stopWaiting(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #notify(change: TransportChange): void {
    if (this.#report) callListener(this.#report, change);
  }
}
