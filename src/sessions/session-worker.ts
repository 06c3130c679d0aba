import type { MessageBus } from '../bus/message-bus.ts';
import { AgentError } from '../errors/agent-error.ts';
import { logMessage, logText } from '../errors/log-text.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import { uuid } from '../ids.ts';
import { AcceptedSessions } from './accepted-sessions.ts';
import { TURN_MS, waitAfter, waitAfterDeath } from './attempts.ts';
import { BusLiveSource } from './bus/bus-live-source.ts';
import { SessionBus } from './bus/session-bus.ts';
import type { ExecutionQueue } from './execution-queue.ts';
import type { LiveSource } from './feed/live-source.ts';
import { endsWithin } from './in-time.ts';
import { inProcessQueue } from './in-process-queue.ts';
import { checkedLeaseTimes, LeaseKeeper, type LeaseTimes } from './lease-keeper.ts';
import { Quarantine, type Stay } from './quarantine.ts';
import { isTakenOver, SessionAttempt } from './session-attempt.ts';
import { SessionListeners } from './session-listeners.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { SessionRow } from './session-rows.ts';
import type { SessionRequest } from './session-store.ts';
import { SessionSweep } from './session-sweep.ts';
import { SessionWaits } from './session-waits.ts';
import { needsQuarantine } from './stores/attempt-rules.ts';
import { isDamage } from './stores/store-errors.ts';
import { WorkDispatch, type WorkSession } from './work-dispatch.ts';
import { WorkerReporter } from './worker-reporter.ts';

export interface SessionEvent {
  readonly sessionId: string;
  readonly owner: string;
  /** Place in the log of the execution; null for chunks and deltas, which are not kept. */
  readonly seq: number | null;
  readonly event: AgentEvent;
}

export interface WorkerOptions {
  /** Default: in this process, 500 at a time. */
  readonly queue?: ExecutionQueue;
  /** Carries requests, wake-ups and live text between the processes of a store. Default: none, and the store is polled. */
  readonly bus?: MessageBus;
  /** Whether this process works on sessions. With false it accepts and reads, and others work. Default true. */
  readonly work?: boolean;
  /** Dependencies for tools and hooks, created in each process that runs a session. */
  readonly deps?:
    | Record<string, unknown>
    | ((session: { readonly id: string; readonly owner: string }) => unknown);
  readonly lease?: Partial<LeaseTimes>;
  /** Work that could not be done now: a store that fails, an agent that refuses. Default: console.error. */
  readonly onError?: (error: unknown, sessionId: string) => void;
}

/** Most sessions that one sweep takes past a shared queue. What a dead process has left is not limited. */
const MOST_OVERDUE = 100;
/** Longest wait for interrupted runs to store their progress; without that, their leases expire. */
const HANDOVER_MS = 3_000;

/** One worker of possibly many on the same store: gives sessions that need work their turn, and claims them. */
export class SessionWorker {
  readonly id: string = uuid();
  readonly lookup: SessionLookup;
  readonly keeper: LeaseKeeper;
  readonly leaseMs: number;
  /** Where live events leave the worker. */
  readonly listeners: SessionListeners = new SessionListeners();
  readonly waits: SessionWaits;
  /** Live events for readers in this process. */
  readonly live: LiveSource;
  readonly #dispatch: WorkDispatch;
  readonly #bus: SessionBus | null;
  /** Whether other processes take from the queue, too. */
  readonly #isShared: boolean;
  readonly #deps: WorkerOptions['deps'];
  readonly #onError: NonNullable<WorkerOptions['onError']>;
  readonly #quarantine: Quarantine;
  readonly #sweep: SessionSweep;
  /** Sessions whose turn it is, also where they wait for their place. */
  readonly #working: Set<string> = new Set();
  readonly #accepted: AcceptedSessions;
  readonly #reporter: WorkerReporter;
  #isHandingOver = false;

  constructor(lookup: SessionLookup, options: WorkerOptions, quarantine?: Quarantine) {
    const { queue = inProcessQueue(), bus, work = true, lease, deps, onError = report } = options;
    const { store, agentNames } = lookup;
    const times = checkedLeaseTimes(lease, bus !== undefined);
    const { leaseMs } = times;
    this.lookup = lookup;
    this.leaseMs = leaseMs;
    this.#accepted = new AcceptedSessions(leaseMs);
    this.keeper = new LeaseKeeper(store, this.id, times);
    this.#dispatch = new WorkDispatch({
      queue,
      works: work,
      hasAgent: (name) => lookup.agentNamed(name) !== undefined,
      find: (sessionId) => store.find(sessionId),
    });
    this.#isShared = queue.local !== undefined;
    this.#bus = this.#dispatch.bus = bus ? this.#connect(bus) : null;
    this.live = this.#bus ? new BusLiveSource(this.listeners, this.#bus) : this.listeners;
    this.waits = new SessionWaits(store, this.#bus, (sessionId) => this.#hasTurn(sessionId));
    this.#sweep = new SessionSweep(store, agentNames, leaseMs);
    this.#quarantine = quarantine ?? new Quarantine({ calmMs: waitAfter(1, leaseMs) });
    this.#deps = deps;
    this.#onError = onError;
    this.#reporter = new WorkerReporter(this, () => this.#working.size);
    if (work) queue.start((sessionId) => this.#work(sessionId), agentNames);
  }

  #connect(bus: MessageBus): SessionBus {
    const connected = new SessionBus(bus, this.id, this.lookup.store.codec, {
      woken: ({ isStop, ...session }) => {
        if (isStop) this.#quarantine.letPass(session.id);
        this.#dispatch.woken(session, isStop);
      },
      changed: (sessionId) => this.keeper.pollFor(sessionId),
      connected: () => this.#sweep.now(),
      textSoFar: (sessionId) => this.listeners.localText(sessionId),
      failed: (error) => this.#onError(error, ''),
    });
    // a reader may come in the middle of a text
    if (this.#dispatch.works) this.listeners.listen(null, (live) => connected.forward(live));
    return connected;
  }

  /** Whether what it wakes gets its turn in this process. */
  get #takesWork(): boolean {
    return this.#dispatch.works && !this.#isShared;
  }

  /** Whether it claims nothing more, and hands over what runs. */
  get isDraining(): boolean {
    return this.#dispatch.isDraining;
  }

  /** Whether the grace of `close` is over: runs are interrupted, and other workers continue them. */
  get isHandingOver(): boolean {
    return this.#isHandingOver;
  }

  /** Why no message of this owner can be taken now, before anything is stored. */
  refusal(owner: string): AgentError | null {
    return this.#dispatch.refusal(owner);
  }

  /** An idle session has accepted a message, and has this row now. */
  async wakeAccepted(row: SessionRow): Promise<void> {
    if (this.#takesWork) this.#accepted.note(row);
    await this.wake(row);
  }

  /** A session needs work, and the store knows which: every request comes in here. */
  async wake(session: WorkSession, isStop: boolean = false): Promise<void> {
    if (isStop) this.#quarantine.letPass(session.id);
    await this.#dispatch.wake(session, isStop);
  }

  /** A request that is in the store now. It reaches a run in this process at once, and any other with its next poll. */
  async signal(session: WorkSession, request: SessionRequest): Promise<void> {
    const stopReason = 'stop' in request ? request.stop : null;
    const pauseReason = 'pause' in request ? request.pause : null;
    if (!('retry' in request)) this.keeper.signal(session.id, { stopReason, pauseReason });
    this.#bus?.changed(session.id);
    await this.wake(session, stopReason !== null);
  }

  async recover(): Promise<number> {
    if (!this.#dispatch.works) return 0;
    const { stops, expired, waiting } = await this.#sweep.find();
    for (const id of stops) {
      this.#quarantine.letPass(id);
      await this.#dispatch.add({ id, owner: '', agent: '' }, true);
    }
    const isNew = (id: string): boolean => !this.#working.has(id);
    const lost = expired.filter(isNew);
    this.#quarantine.dismiss(lost.length);
    await this.#dispatch.addLost(lost);
    // a shared queue is about to bring what waits to a process
    const news = this.#isShared
      ? this.#sweep.overdue(waiting).filter(isNew).slice(0, MOST_OVERDUE)
      : waiting.filter(isNew);
    await this.#dispatch.addFound(news);
    return stops.length + lost.length + news.length;
  }

  start(): void {
    if (this.isDraining || !this.#dispatch.works) return;
    this.#reporter.start();
    this.#sweep.start(async () => {
      await this.recover().catch((error: unknown) => this.#onError(error, ''));
    });
  }

  /** Lets steps finish for `graceMs`, then interrupts what still runs and releases its leases. */
  async close(graceMs: number = 30_000): Promise<void> {
    const drained = this.#dispatch.drain();
    this.#sweep.stop();
    this.#reporter.report();
    this.#quarantine.close();
    if (!(await endsWithin(graceMs, drained)) && !this.#isHandingOver) {
      this.#isHandingOver = true;
      this.keeper.handOver();
      await endsWithin(Math.min(HANDOVER_MS, this.leaseMs), drained);
    }
    this.waits.close();
    await this.#reporter.end();
    await this.#bus?.close();
  }

  /** The session is gone. */
  forget(sessionId: string): void {
    this.#forgetTrouble(sessionId);
    this.waits.notify(sessionId);
    this.#bus?.changed(sessionId);
  }

  async depsFor({ id, owner }: SessionRow): Promise<Record<string, unknown>> {
    const deps = this.#deps;
    const made = typeof deps === 'function' ? await deps({ id, owner }) : deps;
    return (made ?? {}) as Record<string, unknown>;
  }

  /** A try failed, and the next one may come after the wait. */
  tryLater(session: WorkSession, waitMs: number): void {
    if (this.isDraining) return;
    this.#sweep.later(session.id, waitMs, () => {
      this.wake(session).catch((error: unknown) => this.#onError(error, session.id));
    });
  }

  /** Reports failed work to the operator. */
  failed(error: unknown, sessionId: string): void {
    if (isDamage(error)) this.waits.noteDamage(sessionId, error);
    this.#onError(error, sessionId);
  }

  /** Whether the session works here, or waits for that: then this process knows when it settles. */
  #hasTurn(sessionId: string): boolean {
    return this.#working.has(sessionId) || (this.#takesWork && this.#dispatch.has(sessionId));
  }

  #forgetTrouble(sessionId: string): void {
    this.#sweep.noteWork(sessionId);
    this.waits.noteDamage(sessionId, null);
  }

  async #work(sessionId: string): Promise<void> {
    this.#working.add(sessionId);
    try {
      if (await this.#turn(sessionId)) this.#forgetTrouble(sessionId);
    } catch (error) {
      if (isTakenOver(error)) return;
      this.#sweep.noteTrouble(sessionId);
      this.failed(error, sessionId);
    } finally {
      this.#working.delete(sessionId);
      this.waits.notify(sessionId);
      this.#bus?.settled(sessionId);
    }
  }

  /** Works on a session if it needs that and can be had. False if the try failed. */
  async #turn(sessionId: string): Promise<boolean> {
    const found = this.#accepted.take(sessionId) ?? (await this.lookup.store.find(sessionId));
    if (found?.phase !== 'open' || this.isDraining) return true;
    // the row may be wrong about a lease where a clock was set: what the store has called free can be claimed
    if (found.isLeased && !this.#sweep.isFree(sessionId)) return true;
    const stay = await this.#placeFor(found);
    if (!stay) {
      // its turn did not come: it is added again later
      if (this.lookup.agentNamed(found.agent)) this.tryLater(found, TURN_MS);
      return true;
    }
    try {
      if (this.isDraining) return true;
      const waitMs = waitAfterDeath(found, this.leaseMs);
      const lease = await this.keeper.claim(sessionId, { waitMs, alone: stay.isAlone });
      return lease ? await new SessionAttempt(this, lease, stay).work() : true;
    } finally {
      stay.leave();
    }
  }

  /** Null where the session is not for this process, or not now. To stop it needs neither its agent nor a place. */
  async #placeFor(row: SessionRow): Promise<Stay | null> {
    if (row.stopReason !== null) return this.#quarantine.visit();
    if (!this.lookup.agentNamed(row.agent)) return null;
    if (needsQuarantine(row)) return this.#quarantine.isolate(row.id);
    // a worker that has released its session is not in the row
    return this.#quarantine.join(row.id, row.worker !== null);
  }
}

function report(error: unknown, sessionId: string): void {
  const what = sessionId === '' ? '' : `the work on session "${logText(sessionId)}" failed. `;
  console.error(`onward: ${what}${logMessage(error)}`);
}
