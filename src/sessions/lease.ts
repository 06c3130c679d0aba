import type { SessionRow } from './session-rows.ts';
import type { LeaseSignal } from './session-store.ts';

/** A moment by two clocks: one of them may stand still while the machine sleeps, the other can be set. */
export interface Moment {
  readonly steady: number;
  readonly wall: number;
}

export const thisMoment = (): Moment => ({ steady: performance.now(), wall: Date.now() });

/** The longer of both, so that neither a sleep nor a changed clock makes time look shorter than it was. */
export const msSince = ({ steady, wall }: Moment): number =>
  Math.max(performance.now() - steady, Date.now() - wall);

/** The work under a lease. */
export interface LeaseListener {
  signalled(signal: Pick<LeaseSignal, 'stopReason' | 'pauseReason'>): void;
  lost(error: unknown): void;
}

/** The share of a lease that counts: what begins in the rest might begin too late. */
const COUNTED = 0.9;

/** A lease that this worker has claimed, and how sure the worker is that it still has it. */
export class Lease {
  /** The session as it was claimed. */
  readonly row: SessionRow;
  readonly sessionId: string;
  readonly token: number;
  /** Set once another worker has the session. */
  lostError: unknown = null;
  /** The proof that is being asked for. */
  proving: Promise<void> | null = null;
  readonly #ttlMs: number;
  #listener: LeaseListener | null = null;
  #provenAt: Moment;
  #isInDoubt = false;

  /** `askedAt` is the moment before the claim was sent: the lease began then or later. */
  constructor(row: SessionRow, ttlMs: number, askedAt: Moment) {
    this.row = row;
    this.sessionId = row.id;
    this.token = row.token;
    this.#ttlMs = ttlMs;
    this.#provenAt = askedAt;
  }

  /** Whether no other worker can have the session, by what the store last said of this very lease. */
  get isLeaseValid(): boolean {
    return (
      this.lostError === null && !this.#isInDoubt && msSince(this.#provenAt) < this.#ttlMs * COUNTED
    );
  }

  /** Whether the lease has run out unless the store has heard of us meanwhile. */
  get hasRunOut(): boolean {
    return msSince(this.#provenAt) >= this.#ttlMs;
  }

  /** The store has extended it in answer to a request that was sent then. */
  proven(askedAt: Moment): void {
    if (askedAt.steady < this.#provenAt.steady) return;
    this.#provenAt = askedAt;
    this.#isInDoubt = false;
  }

  /** A request that was sent then was not answered: a store that was restarted may have lost the one before it. */
  doubted(askedAt: Moment): void {
    if (askedAt.steady >= this.#provenAt.steady) this.#isInDoubt = true;
  }

  /** Until the returned function is called. Hears at once of a loss that came before. */
  listen(listener: LeaseListener): () => void {
    this.#listener = listener;
    if (this.lostError !== null) listener.lost(this.lostError);
    return () => {
      if (this.#listener === listener) this.#listener = null;
    };
  }

  signalled(signal: Pick<LeaseSignal, 'stopReason' | 'pauseReason'>): void {
    this.#listener?.signalled(signal);
  }

  lose(error: unknown): void {
    this.end(error);
    this.#listener?.lost(this.lostError);
  }

  /** Nothing more begins under it. */
  end(error: unknown): void {
    this.lostError ??= error;
  }
}
