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

/** How many rows of lost sessions one sweep reads for a queue that processes share. */
const MOST_READ = 100;

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
    // another process may have capacity now
    const waits = !this.#isShared && this.#options.queue.waiting > 0;
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
    const { queue, find } = this.#options;
    for (const id of ids) {
      if (queue.has?.(id)) continue;
      const row = await find(id);
      if (row && !(await this.add(row, false))) return;
    }
  }

  /** Takes what there is capacity for, from a random one on: other processes have found the same sessions. */
  async #addHere(local: LocalWork, ids: readonly string[]): Promise<void> {
    const some = ids.slice(0, MOST_READ);
    const first = Math.floor(Math.random() * some.length);
    for (const id of [...some.slice(first), ...some.slice(0, first)]) {
      if (local.free === 0) return;
      const row = await this.#options.find(id);
      if (row) local.tryAdd(id, row);
    }
  }
}
