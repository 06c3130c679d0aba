import { AgentError } from '../errors/agent-error.ts';
import type { SessionBus } from './bus/session-bus.ts';
import {
  queueFull,
  type ExecutionQueue,
  type LocalWork,
  type QueueEntry,
} from './execution-queue.ts';
import type { SessionRow } from './session-rows.ts';
import { runtimeClosed } from './session-waits.ts';

/** A session that needs work, as its row describes it. */
export type WorkSession = Pick<SessionRow, 'id' | 'owner' | 'agent'>;

export interface WorkDispatchOptions {
  readonly queue: ExecutionQueue;
  /** Whether this process works on sessions. */
  readonly works: boolean;
  hasAgent(name: string): boolean;
  find(sessionId: string): Promise<SessionRow | null>;
}

/** How many rows of found sessions are read at the same time. */
const READ_AT_A_TIME = 20;
/** Most lost sessions that one sweep lets wait for capacity of this process, beside a shared queue. */
const LOST_AT_A_TIME = 100;

/** Brings sessions that need work to a process: over the queue of this process, a shared one, or the bus. */
export class WorkDispatch {
  readonly works: boolean;
  /** Set once the bus is there; null without one. */
  bus: SessionBus | null = null;
  #isDraining = false;
  /** Lost sessions that the last sweep has added. */
  #lost: ReadonlySet<string> = new Set();
  readonly #options: WorkDispatchOptions;

  constructor(options: WorkDispatchOptions) {
    this.#options = options;
    this.works = options.works;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Whether other processes take from the queue, too. */
  get #isShared(): boolean {
    return this.#options.queue.local !== undefined;
  }

  /** Why no message of this owner can be accepted now, before anything is stored. */
  refusal(owner: string): AgentError | null {
    if (this.#isDraining) return runtimeClosed();
    const { queue } = this.#options;
    const isFull = queue.isFullFor?.(owner) ?? queue.isFull;
    return isFull ? queueFull(queue.waiting) : null;
  }

  /** Hands a request to a process that works. Where none takes it, a sweep finds the session. */
  async wake(session: WorkSession, isStop: boolean): Promise<void> {
    const isAdded = await this.add(session, isStop);
    const { queue } = this.#options;
    // another process may have capacity now
    const waits = this.#isShared ? queue.isDown === true : queue.waiting > 0;
    if (!isAdded || waits) this.bus?.wake(session, isStop);
  }

  /** Whether the session waits or runs in this process. */
  has(sessionId: string): boolean {
    return this.#options.queue.has?.(sessionId) === true;
  }

  /** Adds a session to the queue of this process. False where the queue is full, or this process does not work. */
  add({ id, owner, agent }: WorkSession, isStop: boolean): Promise<boolean> {
    return this.#addEntry(id, { owner, agent, isUrgent: isStop });
  }

  async #addEntry(id: string, entry: QueueEntry): Promise<boolean> {
    if (this.#isDraining || !(this.works || this.#isShared)) return false;
    try {
      await this.#options.queue.add(id, entry);
      return true;
    } catch (error) {
      if (!AgentError.is(error, 'queue_full')) throw error;
      return false;
    }
  }

  /** Takes a session that another process asked for. Without capacity it is left to others, and to the sweep. */
  woken(session: WorkSession, isStop: boolean): void {
    const { id, owner, agent } = session;
    const { queue, hasAgent } = this.#options;
    if (!this.works || this.#isDraining || !(isStop || hasAgent(agent))) return;
    const entry = { owner, agent, isUrgent: isStop };
    if (queue.local) queue.local.tryAdd(id, entry);
    else if (isStop || queue.waiting === 0) void this.add(session, isStop);
  }

  /** Adds sessions that a sweep has found. */
  addFound(ids: readonly string[]): Promise<void> {
    const { queue } = this.#options;
    if (queue.local) return this.#addHere(queue.local, ids, false);
    const news = ids.filter((id) => !queue.has?.(id));
    return this.#addAll(news, false);
  }

  /** Adds sessions whose workers died, as a sweep has found them. They come before all others. */
  addLost(ids: readonly string[]): Promise<void> {
    const { queue } = this.#options;
    const { local } = queue;
    // one that waits already may wait as one that is not lost
    const isKnown = (id: string): boolean =>
      this.#lost.has(id) && (local ?? queue).has?.(id) === true;
    const news = ids.filter((id) => !isKnown(id));
    this.#lost = new Set(ids);
    return local ? this.#addHere(local, news, true) : this.#addAll(news, true);
  }

  /** Resolves when what runs has ended. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#options.queue.drain();
  }

  async #addAll(ids: readonly string[], isLost: boolean): Promise<void> {
    const { queue } = this.#options;
    let refused = 0;
    for await (const row of this.#rows(ids)) {
      const isAdded = await this.#addEntry(row.id, { owner: row.owner, agent: row.agent, isLost });
      // full for this owner, perhaps not for others
      if (!isAdded && (queue.isFull || ++refused === READ_AT_A_TIME)) return;
    }
  }

  /** Takes what there is capacity for, from a random one on: other processes have found the same sessions. */
  async #addHere(local: LocalWork, ids: readonly string[], isLost: boolean): Promise<void> {
    let most = isLost ? local.free + LOST_AT_A_TIME : local.free;
    if (most === 0) return;
    const first = Math.floor(Math.random() * ids.length);
    for await (const row of this.#rows([...ids.slice(first), ...ids.slice(0, first)])) {
      if (isLost ? most-- === 0 : local.free === 0) return;
      local.tryAdd(row.id, { owner: row.owner, agent: row.agent, isLost });
    }
  }

  /** Reads rows, several at a time: a sweep that waits for each one comes late to the next lost session. */
  async *#rows(ids: readonly string[]): AsyncGenerator<SessionRow, void, undefined> {
    for (let at = 0; at < ids.length; at += READ_AT_A_TIME) {
      const some = ids.slice(at, at + READ_AT_A_TIME);
      for (const row of await Promise.all(some.map((id) => this.#options.find(id))))
        if (row) yield row;
    }
  }
}
