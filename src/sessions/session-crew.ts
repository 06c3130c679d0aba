import type { GivenAnswer } from '../agent/approval-answer.ts';
import { isoTime } from '../clock.ts';
import { AgentError } from '../errors/agent-error.ts';
import { logMessage, logText } from '../errors/log-text.ts';
import { uuid } from '../ids.ts';
import type { GrantOrder } from './grant-order.ts';
import { inProcessQueue, queueFull, type ExecutionQueue } from './execution-queue.ts';
import { checkedLeaseTimes, LeaseKeeper, type LeaseTimes } from './lease-keeper.ts';
import { hasLog } from './log-events.ts';
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
  RecoverablePage,
  SessionStore,
} from './session-store.ts';
import { GRANT_LOG_REQUIRES } from './state-rows.ts';
import { isTakenOver, workOn, type CommandBody, type WorkerContext } from './session-worker.ts';

export interface CrewOptions {
  /** Default: in this process, 50 at a time. */
  readonly queue?: ExecutionQueue;
  /** Live things for tools and hooks, made anew wherever a session goes on. */
  readonly deps?:
    | Record<string, unknown>
    | ((session: { readonly id: string; readonly owner: string }) => unknown);
  readonly lease?: Partial<LeaseTimes>;
  /** Work that could not be done now: a store that fails, an agent that refuses. Default: console.error. */
  readonly onError?: (error: unknown, sessionId: string) => void;
}

/** A session whose work failed here is left to others for this long. */
const BACKOFF_MS = 30_000;
const SWEEP = 1_000;
/** How often somebody who waits looks at the store, for work that runs elsewhere. */
const LOOK_MS = 250;

/** Takes what sessions are asked to do, and does it: one worker of possibly many on the same store. */
export class SessionCrew {
  readonly listeners: SessionListeners = new SessionListeners();
  readonly #lookup: SessionLookup;
  readonly #store: SessionStore;
  readonly #queue: ExecutionQueue;
  readonly #keeper: LeaseKeeper;
  readonly #context: WorkerContext;
  readonly #times: LeaseTimes;
  readonly #onError: NonNullable<CrewOptions['onError']>;
  /** Where the next sweep continues, by agent. */
  readonly #lastOwners: Map<string, string> = new Map();
  readonly #leftAlone: Map<string, number> = new Map();
  /** Sessions whose rows cannot be read: callers who wait get the error. */
  readonly #damaged: Map<string, AgentError> = new Map();
  readonly #waiters: Map<string, Set<() => void>> = new Map();
  #isClosed = false;
  #isDrained = false;
  #sweep: ReturnType<typeof setInterval> | null = null;

  constructor(lookup: SessionLookup, options: CrewOptions) {
    const { queue = inProcessQueue(), lease, deps, onError = report } = options;
    const { store, clock, window } = lookup;
    const worker = uuid();
    this.#lookup = lookup;
    this.#store = store;
    this.#times = checkedLeaseTimes(lease);
    this.#keeper = new LeaseKeeper(store, worker, this.#times);
    this.#onError = onError;
    this.#queue = queue;
    this.#context = {
      store,
      worker,
      keeper: this.#keeper,
      window,
      clock,
      agentNamed: (name) => lookup.agentNamed(name),
      depsFor: async ({ id, owner }) =>
        ((typeof deps === 'function' ? await deps({ id, owner }) : deps) ?? {}) as Record<
          string,
          unknown
        >,
      isDraining: () => this.#isClosed,
      told: (event) => this.listeners.tell(event),
      isHeard: (sessionId) => this.listeners.wants(sessionId),
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

  async request(
    sessionId: string,
    wish: { readonly stop: string } | { readonly pause: string },
  ): Promise<void> {
    const phase = await this.#store.request(sessionId, wish);
    if (phase === null) throw sessionNotFound(sessionId);
    if (phase === 'idle') return;
    this.#keeper.signal(
      sessionId,
      'stop' in wish
        ? { stopReason: wish.stop, pauseReason: null }
        : { stopReason: null, pauseReason: wish.pause },
    );
    await this.enqueue(sessionId);
  }

  /** The work is in the store: where the queue has no room, a later sweep finds it. */
  async enqueue(sessionId: string): Promise<void> {
    if (this.#isClosed) return;
    try {
      await this.#queue.add(sessionId);
    } catch (error) {
      if (!AgentError.is(error, 'queue_full')) throw error;
    }
  }

  async recover(): Promise<number> {
    const agents = this.#lookup.agentNames;
    const ids = new Set(await this.#store.urgent({ agents, limit: SWEEP }));
    for (const agent of agents) for (const id of await this.#waiting(agent)) ids.add(id);
    const now = this.#lookup.clock.now();
    for (const [id, until] of this.#leftAlone) if (until <= now) this.#leftAlone.delete(id);
    const ours = [...ids].filter((id) => !this.#leftAlone.has(id));
    for (const id of ours) await this.enqueue(id);
    return ours.length;
  }

  /** The next page of what waits for an agent of this process: each sweep continues where the last one ended. */
  async #waiting(agent: string): Promise<readonly string[]> {
    const page = (afterOwner?: string): Promise<RecoverablePage> =>
      this.#store.recoverable({
        agent,
        limit: SWEEP,
        ...(afterOwner !== undefined && { afterOwner }),
      });
    const last = this.#lastOwners.get(agent);
    let found = await page(last);
    if (found.ids.length === 0 && last !== undefined) found = await page();
    if (found.afterOwner === null) this.#lastOwners.delete(agent);
    else this.#lastOwners.set(agent, found.afterOwner);
    return found.ids;
  }

  start(): void {
    if (this.#sweep !== null || this.#isClosed) return;
    const sweep = (): void => {
      this.recover().catch((error: unknown) => this.#onError(error, ''));
    };
    this.#sweep = setInterval(sweep, this.#times.leaseMs / 3);
    sweep();
  }

  async close(graceMs: number = 30_000): Promise<void> {
    this.#isClosed = true;
    if (this.#sweep !== null) clearInterval(this.#sweep);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const grace = new Promise<void>((resolve) => (timer = setTimeout(resolve, graceMs)));
    await Promise.race([this.#queue.drain(), grace]);
    clearTimeout(timer);
    this.#isDrained = true;
    for (const sessionId of Array.from(this.#waiters.keys())) this.#notify(sessionId);
  }

  forget(sessionId: string): void {
    this.#leftAlone.delete(sessionId);
    this.#damaged.delete(sessionId);
    this.#notify(sessionId);
  }

  /**
   * Resolves when the execution (null: any) is neither worked on nor waits for a worker. `hasBegun`: it does not wait,
   * even if there is no log of it.
   */
  async settled(
    sessionId: string,
    executionId: string | null,
    hasBegun: boolean = false,
  ): Promise<void> {
    let wasSeen = hasBegun;
    for (;;) {
      const changed = this.#nextChange(sessionId);
      const row = await this.#store.find(sessionId);
      if (!row) throw sessionNotFound(sessionId);
      const isCurrent = executionId === null || row.executionId === executionId;
      // idle: nothing waits here, also not what was refused
      if (row.phase === 'idle' || (isCurrent && row.phase !== 'open')) return;
      if (!isCurrent && wasSeen) return;
      wasSeen = isCurrent
        ? executionId !== null
        : await hasLog(this.#store, sessionId, executionId);
      // it may have begun since the row was read
      if (!isCurrent && wasSeen) continue;
      const damage = this.#damaged.get(sessionId);
      if (damage) throw damage;
      if (this.#isDrained) throw runtimeClosed();
      await changed;
    }
  }

  #nextChange(sessionId: string): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(sessionId) ?? new Set();
      const done = (): void => {
        clearTimeout(timer);
        waiters.delete(done);
        if (waiters.size === 0) this.#waiters.delete(sessionId);
        resolve();
      };
      const timer = setTimeout(done, LOOK_MS);
      this.#waiters.set(sessionId, waiters.add(done));
    });
  }

  #notify(sessionId: string): void {
    for (const wake of Array.from(this.#waiters.get(sessionId) ?? [])) wake();
  }

  async #work(sessionId: string): Promise<void> {
    try {
      await workOn(this.#context, sessionId);
      this.#leftAlone.delete(sessionId);
      this.#damaged.delete(sessionId);
    } catch (error) {
      if (isTakenOver(error)) return;
      if (isDamage(error)) this.#damaged.set(sessionId, error);
      this.#leftAlone.set(sessionId, this.#lookup.clock.now() + BACKOFF_MS);
      this.#onError(error, sessionId);
    } finally {
      this.#notify(sessionId);
    }
  }
}

const runtimeClosed = (): AgentError =>
  new AgentError(
    'runtime_closed',
    'This runtime was closed and takes no more work; another process goes on with what is open. Send to another ' +
      'process, or make a new runtime.',
  );

function report(error: unknown, sessionId: string): void {
  console.error(
    `onward: the work on session "${logText(sessionId)}" failed and will be tried again. ${logMessage(error)}`,
  );
}
