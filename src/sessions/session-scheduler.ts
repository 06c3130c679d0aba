import type { GivenAnswer } from '../agent/approval-answer.ts';
import { isoTime } from '../clock.ts';
import { AgentError } from '../errors/agent-error.ts';
import { logMessage, logText } from '../errors/log-text.ts';
import { uuid } from '../ids.ts';
import { waitAfter } from './attempts.ts';
import type { GrantOrder } from './grant-order.ts';
import { inProcessQueue, queueFull, type ExecutionQueue } from './execution-queue.ts';
import { checkedLeaseTimes, LeaseKeeper, type LeaseTimes } from './lease-keeper.ts';
import { Quarantine } from './quarantine.ts';
import { plainBody } from './row-writer.ts';
import { changedMeanwhile, sessionNotFound } from './session-errors.ts';
import { SessionListeners } from './session-listeners.ts';
import type { SessionLookup } from './session-lookup.ts';
import { isDamage } from './stores/store-errors.ts';
import type { SessionPhase, SessionRow } from './session-rows.ts';
import type {
  AcceptCondition,
  Acceptance,
  Decision,
  SessionRequest,
  SessionStore,
} from './session-store.ts';
import { GRANT_LOG_REQUIRES } from './state-rows.ts';
import { SessionSweep } from './session-sweep.ts';
import type { CommandBody } from './session-task.ts';
import { runtimeClosed, SessionWaits } from './session-waits.ts';
import { isTakenOver, workOn, type WorkerContext } from './session-worker.ts';

export interface SchedulerOptions {
  /** Default: in this process, 50 at a time. */
  readonly queue?: ExecutionQueue;
  /** Dependencies for tools and hooks, created in each process that runs a session. */
  readonly deps?:
    | Record<string, unknown>
    | ((session: { readonly id: string; readonly owner: string }) => unknown);
  readonly lease?: Partial<LeaseTimes>;
  /** Work that could not be done now: a store that fails, an agent that refuses. Default: console.error. */
  readonly onError?: (error: unknown, sessionId: string) => void;
}

/** Takes what sessions are asked to do, and does it: one worker of possibly many on the same store. */
export class SessionScheduler {
  readonly listeners: SessionListeners = new SessionListeners();
  readonly #lookup: SessionLookup;
  readonly #store: SessionStore;
  readonly #queue: ExecutionQueue;
  readonly #keeper: LeaseKeeper;
  readonly #context: WorkerContext;
  readonly #onError: NonNullable<SchedulerOptions['onError']>;
  readonly #quarantine: Quarantine;
  readonly #sweep: SessionSweep;
  readonly #waits: SessionWaits;
  /** Sessions whose turn it is, also where they wait for their place. */
  readonly #working: Set<string> = new Set();
  #isClosed = false;

  constructor(lookup: SessionLookup, options: SchedulerOptions) {
    const { queue = inProcessQueue(), lease, deps, onError = report } = options;
    const { store, clock, window } = lookup;
    const worker = uuid();
    this.#lookup = lookup;
    this.#store = store;
    const times = checkedLeaseTimes(lease);
    const { leaseMs } = times;
    this.#keeper = new LeaseKeeper(store, worker, times);
    this.#sweep = new SessionSweep(store, lookup.agentNames, leaseMs);
    this.#waits = new SessionWaits(store);
    this.#quarantine = new Quarantine({ calmMs: waitAfter(1, leaseMs) });
    this.#onError = onError;
    this.#queue = queue;
    this.#context = {
      store,
      worker,
      keeper: this.#keeper,
      quarantine: this.#quarantine,
      leaseMs,
      window,
      clock,
      agentNamed: (name) => lookup.agentNamed(name),
      depsFor: async ({ id, owner }) =>
        ((typeof deps === 'function' ? await deps({ id, owner }) : deps) ?? {}) as Record<
          string,
          unknown
        >,
      isDraining: () => this.#isClosed,
      isFree: (sessionId) => this.#sweep.isFree(sessionId),
      onEvent: (event) => this.listeners.notify(event),
      hasListeners: (sessionId) => this.listeners.wants(sessionId),
      failed: (error, sessionId) => this.#failed(error, sessionId),
      tryLater: (sessionId, waitMs) => {
        if (!this.#isClosed)
          this.#sweep.later(sessionId, waitMs, () => {
            this.enqueue(sessionId).catch((error: unknown) => this.#onError(error, sessionId));
          });
      },
    };
    queue.start((sessionId) => this.#work(sessionId));
  }

  /** Why no message can be taken now, before anything is stored. */
  refusal(): AgentError | null {
    if (this.#isClosed) return runtimeClosed();
    return this.#queue.isFull ? queueFull(this.#queue.waiting) : null;
  }

  async accept(
    { id }: SessionRow,
    body: CommandBody,
    given: {
      readonly executionId: string;
      readonly contentHash?: string | null;
      readonly requires?: number;
    } & AcceptCondition,
  ): Promise<Acceptance> {
    const { executionId, contentHash, requires, ...condition } = given;
    const command = {
      kind: 'message' in body ? ('message' as const) : ('resume' as const),
      executionId,
      body: await plainBody(this.#store, body),
      at: isoTime(this.#lookup.clock.now()),
      ...(contentHash !== undefined && { contentHash }),
      ...(requires !== undefined && { requires }),
    };
    const said = await this.#store.accept(id, command, condition);
    if (said === null) throw sessionNotFound(id);
    if (said.accepted || said.repeat === 'waiting') await this.enqueue(id);
    return said;
  }

  async acceptResume(row: SessionRow, order: GrantOrder | null, isOpen: boolean): Promise<void> {
    const phases: SessionPhase[] = isOpen ? ['open', 'paused'] : ['idle', 'paused'];
    const { executionId, revision } = row;
    const { accepted } = await this.accept(row, order ?? { grant: null }, {
      executionId: executionId ?? '',
      phases,
      // an earlier release would give the grant and not record it
      ...(order && { requires: GRANT_LOG_REQUIRES }),
      ...(isOpen ? {} : { revision }),
    });
    if (!accepted) throw changedMeanwhile(row.id);
  }

  async decide(
    { id, executionId }: SessionRow,
    callId: string,
    answer: GivenAnswer,
    isNamed: boolean,
  ): Promise<Decision> {
    return this.#store.decide(id, {
      executionId: executionId ?? '',
      callId,
      body: await plainBody(this.#store, answer),
      at: isoTime(this.#lookup.clock.now()),
      ...(!isNamed && { ifUnambiguous: true }),
    });
  }

  /** The phase that was found. */
  async request(sessionId: string, request: SessionRequest): Promise<SessionPhase> {
    const phase = await this.#store.request(sessionId, request);
    if (phase === null) throw sessionNotFound(sessionId);
    if (phase === 'idle') return phase;
    const stopReason = 'stop' in request ? request.stop : null;
    const pauseReason = 'pause' in request ? request.pause : null;
    if (!('retry' in request)) this.#keeper.signal(sessionId, { stopReason, pauseReason });
    if (stopReason !== null) this.#quarantine.letPass(sessionId);
    await this.enqueue(sessionId, stopReason !== null);
    return phase;
  }

  /** False where the queue has no room: the work is in the store, and a later sweep finds it. */
  async enqueue(sessionId: string, isStop: boolean = false): Promise<boolean> {
    if (this.#isClosed) return false;
    try {
      await this.#queue.add(sessionId, { isUrgent: isStop });
      return true;
    } catch (error) {
      if (!AgentError.is(error, 'queue_full')) throw error;
      return false;
    }
  }

  async recover(): Promise<number> {
    const { stops, others } = await this.#sweep.find();
    const news = others.filter((id) => !this.#working.has(id));
    for (const id of stops) {
      this.#quarantine.letPass(id);
      await this.enqueue(id, true);
    }
    for (const id of news) if (!(await this.enqueue(id))) break;
    return stops.length + news.length;
  }

  start(): void {
    if (this.#isClosed) return;
    this.#sweep.start(async () => {
      await this.recover().catch((error: unknown) => this.#onError(error, ''));
    });
  }

  async close(graceMs: number = 30_000): Promise<void> {
    this.#isClosed = true;
    this.#sweep.stop();
    this.#quarantine.close();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const grace = new Promise<void>((resolve) => (timer = setTimeout(resolve, graceMs)));
    await Promise.race([this.#queue.drain(), grace]);
    clearTimeout(timer);
    this.#waits.close();
  }

  forget(sessionId: string): void {
    this.#forgetTrouble(sessionId);
    this.#waits.notify(sessionId);
  }

  settled(sessionId: string, executionId: string | null, hasBegun?: boolean): Promise<void> {
    return this.#waits.settled(sessionId, executionId, hasBegun);
  }

  async #work(sessionId: string): Promise<void> {
    this.#working.add(sessionId);
    try {
      const isDone = await workOn(this.#context, sessionId);
      if (isDone) this.#forgetTrouble(sessionId);
    } catch (error) {
      if (isTakenOver(error)) return;
      this.#sweep.noteTrouble(sessionId);
      this.#failed(error, sessionId);
    } finally {
      this.#working.delete(sessionId);
      this.#waits.notify(sessionId);
    }
  }

  #forgetTrouble(sessionId: string): void {
    this.#sweep.noteWork(sessionId);
    this.#waits.noteDamage(sessionId, null);
  }

  #failed(error: unknown, sessionId: string): void {
    if (isDamage(error)) this.#waits.noteDamage(sessionId, error);
    this.#onError(error, sessionId);
  }
}

function report(error: unknown, sessionId: string): void {
  console.error(`onward: the work on session "${logText(sessionId)}" failed. ${logMessage(error)}`);
}
