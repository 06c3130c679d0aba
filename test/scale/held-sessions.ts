import type { SessionRow } from 'onward/stores';
import type { IdleControl } from './idle-control.ts';

interface Held {
  readonly session: string;
  readonly token: number;
  readonly killedAt: number;
  /** Deaths of the execution before this one: after the first, sessions wait by design. */
  readonly deaths: number;
}

export interface TakeoverDelay {
  readonly session: string;
  /** From the kill to the claim of another worker, or to the end by a stop. */
  readonly ms: number;
  readonly isFirstDeath: boolean;
  /** How long an idle process waited for the machine meanwhile. */
  readonly idleLateMs: number;
}

/** Measures how long sessions of killed workers wait for the next worker, by the clock of this process. */
export class HeldSessions {
  readonly delays: TakeoverDelay[] = [];
  readonly #held: Set<Held> = new Set();
  readonly #leaseMs: number;
  readonly #control: Pick<IdleControl, 'lateBetween'>;
  /** When the database was down, and how long it took to be used again. */
  readonly #outages: { readonly from: number; readonly to: number }[] = [];

  constructor(leaseMs: number, control: Pick<IdleControl, 'lateBetween'>) {
    this.#leaseMs = leaseMs;
    this.#control = control;
  }

  /** `worker` was killed, and `rows` were read after that. */
  killed(worker: string, killedAt: number, rows: readonly SessionRow[]): void {
    for (const { id: session, token, deaths, phase, worker: holder } of rows)
      if (holder === worker && phase === 'open')
        this.#held.add({ session, token, killedAt, deaths });
  }

  /** Time in which the database was down does not count: no worker can claim anything. */
  outage(from: number, to: number): void {
    this.#outages.push({ from, to });
  }

  saw(rows: readonly SessionRow[]): void {
    const now = performance.now();
    const bySession = new Map(rows.map((row) => [row.id, row]));
    for (const held of this.#held) {
      const { session, token, killedAt, deaths } = held;
      const row = bySession.get(session);
      if (row?.token === token && row.worker !== null) continue;
      this.#held.delete(held);
      const down = this.#outages.reduce(
        (sum, { from, to }) => sum + Math.max(0, Math.min(to, now) - Math.max(from, killedAt)),
        0,
      );
      const ms = now - killedAt - down;
      const idleLateMs = this.#control.lateBetween(killedAt, now);
      this.delays.push({ session, ms, isFirstDeath: deaths === 0, idleLateMs });
    }
  }

  /** The longest delay beyond the lease, and beyond what an idle process waited; null without such delays. */
  get longestBeyondLease(): number | null {
    const first = this.delays.filter(({ isFirstDeath }) => isFirstDeath);
    const beyond = first.map(({ ms, idleLateMs }) => ms - idleLateMs - this.#leaseMs);
    return beyond.length === 0 ? null : Math.round(Math.max(...beyond));
  }
}
