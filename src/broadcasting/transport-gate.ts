import { AgentError } from '../errors/agent-error.ts';
import { backoffMs } from '../errors/error-policy.ts';
import { BroadcastError, type Broadcaster } from './broadcaster.ts';
import { heard, type TransportChange } from './delivery-reports.ts';
import { quietTimer, type Timer } from './transport-call.ts';

/** A queue that waits because its transport is paused. */
export interface GateGuest {
  /** Makes a call now; false where it has nothing to send. */
  tries(): boolean;
  /** The transport works again. */
  opened(): void;
  /** The last try was refused as well. */
  refused(error: unknown): void;
}

type Report = (change: TransportChange) => void;

/** The first wait and the longest: what was set up wrongly is put right by a person, in minutes or days. */
const WAITS = { initialMs: 60_000, factor: 2, maxMs: 600_000, jitter: 0.25 };
/** Who cannot wait, because a process ends, may try so long after the last try. */
const LEAST_BETWEEN_MS = 5_000;

const gates = new WeakMap<Broadcaster, TransportGate>();

/** Whether the transport would refuse any other frame too: wrong credentials, a wrong address, a missing package. */
export const refusesAll = (error: unknown): boolean =>
  (BroadcastError.is(error) && error.pauses) || AgentError.is(error, 'package_missing');

/**
 * One for all queues of a transport: what refuses everything is left alone by all of them, and tried again rarely and
 * by one. Told once when it begins, and once when it is over.
 */
export class TransportGate {
  readonly #name: string;
  readonly #guests: Set<GateGuest> = new Set();
  /** Null while the transport is used. */
  #error: unknown = null;
  #isPaused = false;
  #isTrying = false;
  #timer: Timer | null = null;
  #refusals = 0;
  #pausedAt = 0;
  #triedAt = 0;
  #told: string | null = null;
  #report: Report | null = null;

  private constructor(broadcaster: Broadcaster) {
    this.#name = broadcaster.name;
  }

  /** The first queue on a transport has it load what it needs. */
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

  /** Whether a call may be made: always, but for a pause, where one is made when its time has come. */
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

  /** A call arrived. */
  passed(): void {
    if (!this.#isPaused) return;
    const pausedMs = performance.now() - this.#pausedAt;
    this.#isPaused = this.#isTrying = false;
    this.#error = null;
    this.#refusals = 0;
    this.#stopWaiting();
    this.#tell({ state: 'resumed', transport: this.#name, error: null, pausedMs });
    this.#told = this.#report = null;
    const guests = Array.from(this.#guests);
    this.#guests.clear();
    for (const guest of guests) guest.opened();
  }

  /** The transport refuses everything. */
  pause(error: unknown, report: Report): void {
    // other calls were on their way when it was paused
    if (this.#isPaused && !this.#isTrying) return;
    if (!this.#isPaused) this.#pausedAt = performance.now();
    this.#isPaused = true;
    this.#error = error;
    this.#report ??= report;
    this.#refusals += 1;
    const retryMs = this.#wait();
    const message = String(error);
    if (message !== this.#told) {
      this.#told = message;
      this.#tell({ state: 'paused', transport: this.#name, error, retryMs });
    }
    for (const guest of Array.from(this.#guests)) guest.refused(error);
  }

  /** The call that tried again failed for another reason: that says nothing, and the next try is as far away. */
  unclear(): void {
    if (this.#isPaused && this.#isTrying) this.#wait();
  }

  /** A try before its time; false where the last one was just now. */
  hurry(guest: GateGuest): boolean {
    if (!this.#isPaused) return true;
    this.#guests.add(guest);
    if (this.#isTrying) return true;
    if (performance.now() - this.#triedAt < LEAST_BETWEEN_MS) return false;
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

  /** One that waits may try; where none does, the next that comes. */
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

  #tell(change: TransportChange): void {
    if (this.#report) heard(this.#report, change);
  }
}
