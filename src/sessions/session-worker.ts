import type { DurableAgent } from '../agent/durable-agent.ts';
import { isoTime, type Clock } from '../clock.ts';
import { AgentError } from '../errors/agent-error.ts';
import { defaultRedactor, type Redactor } from '../errors/redactor.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import {
  deathText,
  failureText,
  isSpent,
  MOST_TRIES,
  waitAfter,
  waitAfterDeath,
  wasParked,
} from './attempts.ts';
import type { LiveEvent } from './feed/live-source.ts';
import { emitParked } from './emit-parked.ts';
import type { Lease } from './lease.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import type { HistoryWindow } from './load-state.ts';
import type { Quarantine, Stay } from './quarantine.ts';
import type { SessionPhase, SessionRow } from './session-rows.ts';
import type { SessionStore } from './session-store.ts';
import { LeasedRun } from './leased-run.ts';
import { needsQuarantine } from './stores/attempt-rules.ts';

export interface SessionEvent {
  readonly sessionId: string;
  readonly owner: string;
  /** Place in the log of the execution; null for chunks and deltas, which are not kept. */
  readonly seq: number | null;
  readonly event: AgentEvent;
}

export interface WorkerContext {
  readonly store: SessionStore;
  readonly worker: string;
  readonly keeper: LeaseKeeper;
  readonly quarantine: Quarantine;
  readonly leaseMs: number;
  readonly window: HistoryWindow;
  readonly clock: Clock;
  agentNamed(name: string): DurableAgent | undefined;
  depsFor(row: SessionRow): Promise<Record<string, unknown>>;
  isDraining(): boolean;
  /** Whether the store has said that the session can be claimed, whatever its row says of the lease. */
  isFree(sessionId: string): boolean;
  onEvent(event: LiveEvent): void;
  hasListeners(sessionId: string): boolean;
  /** Reports failed work to the operator. */
  failed(error: unknown, sessionId: string): void;
  /** A try failed, and the next one may come after the wait. */
  tryLater(sessionId: string, waitMs: number): void;
}

/** How soon a session is looked at again that could not have its turn. */
const TURN_MS = 500;

/** Works on a session as long as there is something to do and the lease is ours. False if a try of it failed. */
export async function workOn(context: WorkerContext, sessionId: string): Promise<boolean> {
  const { store, keeper, leaseMs } = context;
  const found = await store.find(sessionId);
  if (found?.phase !== 'open' || context.isDraining()) return true;
  if (found.isLeased && !context.isFree(sessionId)) return true;
  const stay = await placeFor(context, found);
  if (!stay) {
    // where its turn did not come, it is asked for again
    if (context.agentNamed(found.agent)) context.tryLater(sessionId, TURN_MS);
    return true;
  }
  try {
    if (context.isDraining()) return true;
    const waitMs = waitAfterDeath(found, leaseMs);
    const lease = await keeper.claim(sessionId, { waitMs, alone: stay.isAlone });
    return lease ? await new Try(context, lease, stay).work() : true;
  } finally {
    stay.leave();
  }
}

/** Null where the session is not for this process, or not now. To stop it needs neither its agent nor a place. */
async function placeFor(
  { quarantine, agentNamed }: WorkerContext,
  row: SessionRow,
): Promise<Stay | null> {
  if (row.stopReason !== null) return quarantine.visit();
  if (!agentNamed(row.agent)) return null;
  return needsQuarantine(row) ? quarantine.isolate(row.id) : quarantine.join(row.id);
}

/** One claim of a session, to its end. */
class Try {
  readonly #context: WorkerContext;
  readonly #lease: Lease;
  readonly #stay: Stay;

  constructor(context: WorkerContext, lease: Lease, stay: Stay) {
    this.#context = context;
    this.#lease = lease;
    this.#stay = stay;
  }

  async work(): Promise<boolean> {
    const { keeper } = this.#context;
    const lease = this.#lease;
    try {
      // what is in it may be what kills: it is not read again
      if (isSpent(lease.row)) await this.#giveUp(deathText(lease.row), null);
      else await this.#stretches();
      await keeper.release(lease);
      return true;
    } catch (error) {
      if (isTakenOver(error)) throw error;
      await this.#failed(error);
      this.#context.failed(error, lease.sessionId);
      return false;
    } finally {
      keeper.drop(lease);
    }
  }

  async #stretches(): Promise<void> {
    const { store, worker } = this.#context;
    const lease = this.#lease;
    let row: SessionRow | null = lease.row;
    while (row?.token === lease.token && row.worker === worker) {
      const run = new LeasedRun(this.#context, row, lease, this.#stay);
      const phase: SessionPhase | null = await run.work();
      if (phase !== 'open' || this.#context.isDraining()) return;
      // it has made room for a session that needs the process for itself, and waits for its turn
      if (this.#stay.mustLeave) this.#context.tryLater(lease.sessionId, TURN_MS);
      row = await store.find(lease.sessionId);
    }
  }

  /** Tried again after a wait, until it was tried too often. */
  async #failed(thrown: unknown): Promise<void> {
    const { keeper, leaseMs } = this.#context;
    const lease = this.#lease;
    const row = await this.#current();
    if (row?.token !== lease.token) return;
    const text = failureText(thrown, this.#redactor);
    // a stop that came meanwhile is carried out by the next try
    const isLast =
      row.stopReason === null ? row.tries >= MOST_TRIES : lease.row.stopReason !== null;
    if (isLast) return this.#giveUp(text, thrown);
    const waitMs = waitAfter(Math.max(1, row.tries), leaseMs);
    await keeper.endAttempt(lease, { kind: 'retry', error: text, waitMs });
    this.#context.tryLater(row.id, row.stopReason === null ? waitMs : 0);
  }

  /** Parks it; one that is to be stopped is stopped on its row alone. */
  async #giveUp(text: string, cause: unknown): Promise<void> {
    const { keeper, clock } = this.#context;
    const lease = this.#lease;
    const row = (await this.#current()) ?? lease.row;
    const at = isoTime(clock.now());
    if (row.stopReason !== null) {
      await this.#dropUnbegun(row).catch(() => {}); // then it is worked on, and can be stopped
      return keeper.endAttempt(lease, { kind: 'close', reason: row.stopReason, at });
    }
    const tries = cause === null ? row.tries - 1 : row.tries;
    const parked = { ...row, error: text, tries, parkedAt: at };
    // what killed processes is not read again; the row says all that is needed
    if (cause !== null)
      await new LeasedRun(this.#context, row, lease, this.#stay).begin().catch(() => {});
    await emitParked(this.#context, parked).catch(() => {});
    await keeper.endAttempt(lease, { kind: 'park', error: text, tries, at });
    this.#context.failed(wasParked(parked, cause), row.id);
  }

  /** A message that waits is what is to be stopped, if the execution before it has ended. */
  async #dropUnbegun({ id, token, revision, executionId, seq }: SessionRow): Promise<void> {
    const { store } = this.#context;
    const command = await store.nextCommand(id);
    if (!command) return;
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
    return this.#context.store.find(sessionId).catch(() => row);
  }

  get #redactor(): Redactor {
    return this.#context.agentNamed(this.#lease.row.agent)?.redactor ?? defaultRedactor;
  }
}

/** Errors that say that the work continues elsewhere. */
export const isTakenOver = (error: unknown): boolean => AgentError.is(error, 'stale_owner');
