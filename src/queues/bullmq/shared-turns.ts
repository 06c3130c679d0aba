import type { QueueEntry } from '../../sessions/execution-queue.ts';
import type { LocalQueue } from '../../sessions/in-process-queue.ts';

/** Data of a job: the session and its properties. */
export interface SessionJob {
  readonly sessionId: string;
  readonly owner: string;
  readonly agent: string;
  readonly isUrgent?: boolean;
}

/** A job that this process took from the queue. */
export interface TakenJob {
  readonly data: SessionJob;
  /** Number of times that any process has taken the job, including this one. */
  readonly takes: number;
  /** Ends the delay of the job. */
  promote(): void;
}

/**
 * Outcome of a job: it is done, another process should take it, or it should be taken again after `afterMs`
 * milliseconds.
 */
export type JobOutcome = 'done' | 'return' | { readonly afterMs: number };

interface PutOff {
  readonly job: TakenJob;
  readonly dueAt: number;
}

const PUT_OFF_MS = 5_000;
/**
 * Additional delay in milliseconds for each job that is already delayed, so that they do not all come back at the same
 * time.
 */
const SPACING_MS = 100;
/** Most delayed jobs that are remembered for promotion. Others come back after their delay. */
const MOST_PUT_OFF = 1_000;
/** First delay of a job whose agent this process does not have, in milliseconds. */
const ELSEWHERE_MS = 100;
const LONGEST_ELSEWHERE_MS = 30_000;
/** Takes after which a job of an unknown agent is dropped. A process with the agent finds the session in the store. */
const MOST_TAKES = 15;

/** Turns of this process in a queue that processes share. */
export class SharedTurns {
  readonly #local: LocalQueue;
  /** Jobs that wait for the end of the next turn of their session. */
  readonly #waiters: Map<string, (() => void)[]> = new Map();
  readonly #putOff: Set<PutOff> = new Set();
  #agents: ReadonlySet<string> | null = null;
  #isDraining = false;

  constructor(local: LocalQueue) {
    this.#local = local;
  }

  start(work: (sessionId: string) => Promise<void>, agents?: readonly string[]): void {
    this.#agents = agents ? new Set(agents) : null;
    this.#local.start(async (sessionId) => {
      const ended = this.#waiters.get(sessionId) ?? [];
      this.#waiters.delete(sessionId);
      try {
        await work(sessionId);
      } finally {
        for (const end of ended) end();
        // after the turn is no longer counted
        if (this.#putOff.size > 0) setTimeout(() => this.#promoteOne(), 0);
      }
    });
  }

  get free(): number {
    return this.#local.free;
  }

  has(sessionId: string): boolean {
    return this.#local.has?.(sessionId) ?? false;
  }

  tryAdd(sessionId: string, entry: QueueEntry): boolean {
    return this.#local.tryAdd(sessionId, entry);
  }

  /** Works on the session of a job. Resolves when the work has ended or cannot be done here now. */
  async work(job: TakenJob): Promise<JobOutcome> {
    const { data, takes } = job;
    const { sessionId, agent, isUrgent = false } = data;
    if (this.#isDraining) return 'return';
    if (!isUrgent) {
      if (this.#agents?.has(agent) === false) return elsewhere(takes);
      if (!this.#local.isRunning(sessionId) && !this.#local.canBegin(data))
        return { afterMs: this.#putOffFor(job) };
    }
    await new Promise<void>((resolve) => {
      const waiters = this.#waiters.get(sessionId) ?? [];
      this.#waiters.set(sessionId, [...waiters, resolve]);
      void this.#local.add(sessionId, data);
    });
    // the session may have been handed over
    return this.#isDraining ? 'return' : 'done';
  }

  /** Starts no more sessions, and resolves when all running ones have ended. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#local.drain();
    for (const waiters of this.#waiters.values()) for (const end of waiters) end();
    this.#waiters.clear();
  }

  #putOffFor(job: TakenJob): number {
    const afterMs = PUT_OFF_MS + SPACING_MS * this.#putOff.size;
    if (this.#putOff.size < MOST_PUT_OFF)
      this.#putOff.add({ job, dueAt: performance.now() + afterMs });
    return afterMs;
  }

  /** Promotes one delayed job that can start, after a turn has ended. */
  #promoteOne(): void {
    const now = performance.now();
    for (const one of this.#putOff) {
      const { job, dueAt } = one;
      const canBegin = this.#local.canBegin(job.data);
      if (canBegin || dueAt <= now) this.#putOff.delete(one);
      if (canBegin && dueAt > now) return job.promote();
    }
  }
}

/**
 * Returns the outcome for a job of an agent that this process does not have. A delayed job mostly comes back to the
 * same process; one that is returned goes to another.
 */
function elsewhere(takes: number): JobOutcome {
  if (takes >= MOST_TAKES) return 'done';
  if (takes % 2 === 1) return 'return';
  return { afterMs: Math.min(LONGEST_ELSEWHERE_MS, ELSEWHERE_MS * 2 ** (takes / 2)) };
}
