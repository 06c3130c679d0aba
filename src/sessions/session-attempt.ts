import { isoTime } from '../clock.ts';
import { AgentError } from '../errors/agent-error.ts';
import { deathText, isSpent, MOST_TRIES, TURN_MS } from './attempts.ts';
import { waitAfter, wasParked } from './attempts.ts';
import { emitParked } from './emit-parked.ts';
import { failureText } from './failure-text.ts';
import type { Lease } from './lease.ts';
import { LeasedRun } from './leased-run.ts';
import type { Stay } from './quarantine.ts';
import { RowReader } from './row-reader.ts';
import type { SessionPhase, SessionRow } from './session-rows.ts';
import { revokedBy } from './session-task.ts';
import type { SessionWorker } from './session-worker.ts';
import { isOutage } from './stores/store-errors.ts';

/** One claim of a session, to its end: run after run, with the handling of failures. */
export class SessionAttempt {
  readonly #worker: SessionWorker;
  readonly #lease: Lease;
  readonly #stay: Stay;

  constructor(worker: SessionWorker, lease: Lease, stay: Stay) {
    this.#worker = worker;
    this.#lease = lease;
    this.#stay = stay;
  }

  /** False if it failed. */
  async work(): Promise<boolean> {
    const { keeper } = this.#worker;
    const lease = this.#lease;
    try {
      // what is in it may be what kills: it is not read again
      if (isSpent(lease.row)) await this.#giveUp(deathText(lease.row), null);
      else if (await this.#runAll()) return true;
      await keeper.release(lease);
      // other processes need not wait for their sweep
      if (this.#worker.isDraining) await this.#worker.wake(lease.row);
      return true;
    } catch (error) {
      if (isTakenOver(error)) throw error;
      await this.#failed(error);
      this.#worker.failed(error, lease.sessionId);
      return false;
    } finally {
      keeper.drop(lease);
    }
  }

  /** As long as there is something to do and the lease is ours. Returns whether the last commit has released it. */
  async #runAll(): Promise<boolean> {
    const worker = this.#worker;
    const { sessionId, token } = this.#lease;
    let row: SessionRow | null = this.#lease.row;
    while (row?.token === token && row.worker === worker.id) {
      const phase: SessionPhase | null = await this.#runOf(row).work();
      if (phase === 'idle' || phase === 'paused') return !worker.isDraining;
      if (phase !== 'open' || worker.isDraining) return false;
      // it has left the process to a session that needs all of it, and waits for its turn
      if (this.#stay.mustLeave) worker.tryLater(row, TURN_MS);
      row = await worker.lookup.store.find(sessionId);
    }
    return false;
  }

  #runOf(row: SessionRow): LeasedRun {
    return new LeasedRun(this.#worker, row, this.#lease, this.#stay);
  }

  /** Tried again after a wait, until it was tried too often. */
  async #failed(thrown: unknown): Promise<void> {
    const { keeper, leaseMs, lookup } = this.#worker;
    const lease = this.#lease;
    const row = await this.#current();
    if (row?.token !== lease.token) return;
    const text = failureText(thrown, lookup.redactorOf(lease.row));
    const isStopped = row.stopReason !== null;
    const isTriedOften = row.tries >= MOST_TRIES;
    // a stop that came meanwhile is carried out by the next try, and one that met an outage of the store by a later one
    const isLast = isStopped
      ? lease.row.stopReason !== null && (isTriedOften || !isOutage(thrown))
      : isTriedOften;
    if (isLast) return this.#giveUp(text, thrown);
    const waitMs = waitAfter(Math.max(1, row.tries), leaseMs);
    await keeper.endAttempt(lease, { kind: 'retry', error: text, waitMs });
    this.#worker.tryLater(row, isStopped ? 0 : waitMs);
  }

  /** Parks it; one that is to be stopped is stopped on its row alone. */
  async #giveUp(text: string, cause: unknown): Promise<void> {
    const { keeper, lookup } = this.#worker;
    const lease = this.#lease;
    const row = (await this.#current()) ?? lease.row;
    const at = isoTime(lookup.clock.now());
    if (row.stopReason !== null) {
      await this.#dropUnbegun(row).catch(() => {}); // then it is worked on, and can be stopped
      return keeper.endAttempt(lease, { kind: 'close', reason: row.stopReason, at });
    }
    const tries = cause === null ? row.tries - 1 : row.tries;
    const parked = { ...row, error: text, tries, parkedAt: at };
    // what killed processes is not read again; the row says all that is needed
    if (cause !== null)
      await this.#runOf(row)
        .begin()
        .catch(() => {});
    await emitParked(this.#worker, parked).catch(() => {});
    await keeper.endAttempt(lease, { kind: 'park', error: text, tries, at });
    this.#worker.failed(wasParked(parked, cause), row.id);
  }

  /** A message that waits is what is to be stopped, if the execution before it has ended. */
  async #dropUnbegun(row: SessionRow): Promise<void> {
    const { id, token, revision, executionId, seq } = row;
    const { store } = this.#worker.lookup;
    const command = await store.nextCommand(id);
    if (!command || (await revokedBy(new RowReader(store, row), row.id))) return;
    const last =
      executionId === null || command.kind === 'resume'
        ? []
        : await store.events(id, executionId, { after: seq - 1, limit: 1 });
    if (last.some(({ type }) => type !== 'AgentFinished' && type !== 'AgentFailed')) return;
    await store.commit({ sessionId: id, token, revision, done: command.number });
  }

  /** The row as it is now, or as far as it is known. */
  async #current(): Promise<SessionRow | null> {
    const { row, sessionId } = this.#lease;
    return this.#worker.lookup.store.find(sessionId).catch(() => row);
  }
}

/** Errors that say that the work continues elsewhere. */
export const isTakenOver = (error: unknown): boolean => AgentError.is(error, 'stale_owner');
