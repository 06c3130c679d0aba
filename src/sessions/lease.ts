import { AgentError } from '../errors/agent-error.ts';
import type { RunSignals } from './run-signals.ts';
import type { SessionRow } from './session-rows.ts';

/** A moment by two clocks: the monotonic clock may stop while the machine sleeps, and the wall clock can be changed. */
export interface Moment {
  readonly steady: number;
  readonly wall: number;
}

export const thisMoment = (): Moment => ({ steady: performance.now(), wall: Date.now() });

/**
 * Returns the milliseconds since a moment: the longer of both clocks, so that neither sleep nor a clock change shortens
 * it.
 */
export const msSince = ({ steady, wall }: Moment): number =>
  Math.max(performance.now() - steady, Date.now() - wall);

/** Fraction of a lease that counts as valid. The rest is a safety margin. */
const COUNTED = 0.9;
const PROOF_TRIES = 4;
const LONGEST_WAIT_MS = 1_000;

/** Signals that a lease sends to its run. */
type Listener = Pick<RunSignals, 'signalled' | 'lost' | 'handOver'>;

/** A lease that this worker has claimed, and the last proof that the worker still holds it. */
export class Lease {
  /** The session as it was claimed. */
  readonly row: SessionRow;
  readonly sessionId: string;
  readonly token: number;
  /** Listener of the run that holds the lease. */
  listener: Listener | null = null;
  /** Set once another worker has the session. */
  lostError: unknown = null;
  readonly #ttlMs: number;
  readonly #renew: (lease: Lease) => Promise<unknown>;
  /** The proof that is being requested. */
  #proving: Promise<void> | null = null;
  #provenAt: Moment;
  #isInDoubt = false;

  /**
   * `askedAt` is the moment before the claim was sent, so the lease began then or later. `renew` asks the store to
   * extend it.
   */
  constructor(
    row: SessionRow,
    ttlMs: number,
    askedAt: Moment,
    renew: (lease: Lease) => Promise<unknown>,
  ) {
    this.row = row;
    this.sessionId = row.id;
    this.token = row.token;
    this.#ttlMs = ttlMs;
    this.#provenAt = askedAt;
    this.#renew = renew;
  }

  /** Whether no other worker can hold the session, according to the last answer of the store about this lease. */
  get isLeaseValid(): boolean {
    return (
      this.lostError === null && !this.#isInDoubt && msSince(this.#provenAt) < this.#ttlMs * COUNTED
    );
  }

  /** Whether the lease has expired, unless the store has received a renewal whose answer is missing. */
  get hasRunOut(): boolean {
    return msSince(this.#provenAt) >= this.#ttlMs;
  }

  /**
   * Proves the lease. Returns undefined if it is proven now. Otherwise await the promise and call `confirm` again
   * before you start any work. Rejects if the store does not confirm the lease: then start nothing that cannot be
   * undone.
   */
  confirm(): Promise<void> | undefined {
    if (this.isLeaseValid) return undefined;
    this.#proving ??= this.#prove().finally(() => (this.#proving = null));
    return this.#proving;
  }

  async #prove(): Promise<void> {
    let failure: unknown;
    for (let tries = 1; ; tries++) {
      if (this.lostError !== null) throw this.lostError;
      try {
        await this.#renew(this);
      } catch (error) {
        failure = error;
      }
      if (this.isLeaseValid) return;
      if (this.lostError !== null) throw this.lostError;
      if (tries >= PROOF_TRIES && this.hasRunOut) throw failure ?? unproven(this);
      const waitMs = Math.min(LONGEST_WAIT_MS, 25 * 2 ** tries);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  /** Records that the store has extended the lease in answer to a request sent at `askedAt`. */
  proven(askedAt: Moment): void {
    if (askedAt.steady < this.#provenAt.steady) return;
    this.#provenAt = askedAt;
    this.#isInDoubt = false;
  }

  /**
   * Records that a request sent at `askedAt` was not answered. A restarted store may also have lost the previous one.
   */
  doubted(askedAt: Moment): void {
    if (askedAt.steady >= this.#provenAt.steady) this.#isInDoubt = true;
  }

  /** Sets the listener until the returned function is called. Notifies it immediately if the lease is already lost. */
  listen(listener: Listener): () => void {
    this.listener = listener;
    if (this.lostError !== null) listener.lost(this.lostError);
    return () => {
      if (this.listener === listener) this.listener = null;
    };
  }

  lose(error: unknown): void {
    this.end(error);
    this.listener?.lost(this.lostError);
  }

  /** Ends the lease: no more work starts under it. */
  end(error: unknown): void {
    this.lostError ??= error;
  }
}

const unproven = ({ sessionId, token }: Lease): AgentError =>
  new AgentError(
    'store_failed',
    `The store did not extend the lease of session "${sessionId}" in time, so this worker stops under token ` +
      `${token}. Another worker continues it.`,
    { details: { sessionId, token } },
  );
