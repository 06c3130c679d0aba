import type { SessionRow } from './session-rows.ts';

const MOST = 10_000;

interface Accepted {
  readonly row: SessionRow;
  readonly until: number;
}

/**
 * Sessions whose message this process has just accepted, as the message left their rows. Their turn need not read them
 * first: the claim decides, and refuses what has changed since.
 */
export class AcceptedSessions {
  readonly #byId: Map<string, Accepted> = new Map();
  /** Milliseconds until no worker can have lost the session yet. */
  readonly #leaseMs: number;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** Records a session that was idle before. */
  note(row: SessionRow): void {
    if (this.#byId.size >= MOST) this.#byId.clear();
    // the head may be large, and no turn begins with it
    this.#byId.set(row.id, { row: { ...row, head: '' }, until: performance.now() + this.#leaseMs });
  }

  /** Returns a session once. */
  take(sessionId: string): SessionRow | null {
    const accepted = this.#byId.get(sessionId);
    this.#byId.delete(sessionId);
    return accepted && performance.now() < accepted.until ? accepted.row : null;
  }
}
