import { HandoverSignal, StopSignal } from '../agent/abort-reasons.ts';
import type { LeaseSignal } from './session-store.ts';
import { stopNote } from './stop-note.ts';

export type SignalledReasons = Pick<LeaseSignal, 'stopReason' | 'pauseReason'>;

/** What reaches a run from outside while it works: requests to stop or pause, and that it cannot continue here. */
export class RunSignals {
  stopReason: string | null = null;
  pauseReason: string | null = null;
  /** Why nothing more can be written; the run is over then. */
  failure: unknown = null;
  /** The last commit is on its way: the lease may be released from now on. */
  isEnding = false;
  readonly #abort: AbortController = new AbortController();

  /** Aborted by a stop, by a failure, by a handover and by the loss of the lease. */
  get abortSignal(): AbortSignal {
    return this.#abort.signal;
  }

  signalled({ stopReason, pauseReason }: SignalledReasons): void {
    this.pauseReason = pauseReason;
    this.stopReason ??= stopReason;
    if (stopReason !== null) this.#interrupt(new StopSignal(stopNote(stopReason)));
  }

  /** The worker waits no longer: end the work, store its progress, and let another worker continue. */
  handOver(): void {
    this.#interrupt(new HandoverSignal());
  }

  /** Another worker has the session now: end the work, write nothing. */
  lost(error: unknown): void {
    if (!this.isEnding) this.failure ??= error;
    this.#interrupt(TAKEN_OVER);
  }

  /** Nothing more is written, and the work ends. */
  fail(error: unknown): void {
    this.failure ??= error;
    this.#interrupt(TAKEN_OVER);
  }

  #interrupt(reason: unknown): void {
    if (!this.#abort.signal.aborted) this.#abort.abort(reason);
  }
}

const TAKEN_OVER = 'the session was taken over';
