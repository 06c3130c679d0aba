import { AgentError } from '../errors/agent-error.ts';
import type { SessionBus } from './bus/session-bus.ts';
import { queueFull, type ExecutionQueue, type LocalWork } from './execution-queue.ts';
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

/** Brings sessions that need work to a process: over the queue of this process, a shared one, or the bus. */
export class WorkDispatch {
  readonly works: boolean;
  /** Set once the bus is there; null without one. */
  bus: SessionBus | null = null;
  #isDraining = false;
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

  /** Why no message can be accepted now, before anything is stored. */
  refusal(): AgentError | null {
    if (this.#isDraining) return runtimeClosed();
    const { queue } = this.#options;
    return queue.isFull ? queueFull(queue.waiting) : null;
  }

  /** Hands a request to a process that works. Where none takes it, a sweep finds the session. */
  async wake(session: WorkSession, isStop: boolean): Promise<void> {
    const isAdded = await this.add(session, isStop);
    const { queue } = this.#options;
    // another process may have capacity now
    const waits = this.#isShared ? queue.isDown === true : queue.waiting > 0;
    if (!isAdded || waits) this.bus?.wake(session, isStop);
  }

  /** Adds a session to the queue of this process. False where the queue is full, or this process does not work. */
  async add({ id, owner, agent }: WorkSession, isStop: boolean): Promise<boolean> {
    if (this.#isDraining || !(this.works || this.#isShared)) return false;
    try {
      await this.#options.queue.add(id, { owner, agent, isUrgent: isStop });
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
    const { local } = this.#options.queue;
    return local ? this.#addHere(local, ids) : this.#addAll(ids);
  }

  /** Resolves when what runs has ended. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#options.queue.drain();
  }

  async #addAll(ids: readonly string[]): Promise<void> {
    const { queue } = this.#options;
    for await (const row of this.#rows(ids.filter((id) => !queue.has?.(id))))
      if (!(await this.add(row, false))) return;
  }

  /** Takes what there is capacity for, from a random one on: other processes have found the same sessions. */
  async #addHere(local: LocalWork, ids: readonly string[]): Promise<void> {
    if (local.free === 0) return;
    const first = Math.floor(Math.random() * ids.length);
    for await (const row of this.#rows([...ids.slice(first), ...ids.slice(0, first)])) {
      if (local.free === 0) return;
      local.tryAdd(row.id, row);
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
