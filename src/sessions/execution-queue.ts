import { AgentError, whole } from '../errors/agent-error.ts';

/** Decides who tries to work on a session, and when. It may forget everything: the store knows what is open. */
export interface ExecutionQueue {
  /** Called once, by the runtime: what to do with a session whose turn it is. */
  start(work: (sessionId: string) => Promise<void>): void;
  /**
   * Refuses with `queue_full` where there is no more room; a session that is in the queue is not added again. One that
   * `isUrgent` is to be stopped: that takes a moment, and should wait for nothing.
   */
  add(sessionId: string, options?: { readonly isUrgent?: boolean }): void | Promise<void>;
  /** Whether `add` would refuse. */
  readonly isFull: boolean;
  /** How many sessions wait for their turn. */
  readonly waiting: number;
  /** Takes up nothing more, and resolves when what runs has ended. */
  drain(): Promise<void>;
}

export interface InProcessQueueOptions {
  /** How many sessions are worked on at the same time. Default 50. */
  readonly concurrency?: number;
  /** How many may wait for their turn. Default 10,000. */
  readonly maxWaiting?: number;
}

/** The default queue: in memory, first come first served, one turn per session at a time. */
export function inProcessQueue(options: InProcessQueueOptions = {}): ExecutionQueue {
  const concurrency = whole('inProcessQueue concurrency', options.concurrency ?? 50);
  const maxWaiting = whole('inProcessQueue maxWaiting', options.maxWaiting ?? 10_000);
  const waiting = new Set<string>();
  const urgent = new Set<string>();
  const running = new Map<string, Promise<void>>();
  let work: ((sessionId: string) => Promise<void>) | null = null;
  let isDraining = false;

  const next = (): void => {
    if (work === null || isDraining) return;
    for (const sessionId of urgent) begin(sessionId, work);
    for (const sessionId of waiting) {
      if (running.size >= concurrency) return;
      begin(sessionId, work);
    }
  };
  const begin = (sessionId: string, take: NonNullable<typeof work>): void => {
    // asked for again while it runs: its turn comes after
    if (running.has(sessionId)) return;
    waiting.delete(sessionId);
    urgent.delete(sessionId);
    running.set(sessionId, turn(sessionId, take));
  };
  const turn = async (sessionId: string, take: NonNullable<typeof work>): Promise<void> => {
    try {
      await take(sessionId);
    } catch {
      // the runtime reports
    }
    running.delete(sessionId);
    next();
  };

  return {
    start(given): void {
      work = given;
      next();
    },
    add(sessionId, { isUrgent = false } = {}): void {
      if (isUrgent) urgent.add(sessionId);
      else if (waiting.size >= maxWaiting && !waiting.has(sessionId)) throw queueFull(waiting.size);
      else waiting.add(sessionId);
      next();
    },
    get isFull() {
      return waiting.size >= maxWaiting;
    },
    get waiting() {
      return waiting.size;
    },
    async drain(): Promise<void> {
      isDraining = true;
      waiting.clear();
      urgent.clear();
      await Promise.all(running.values());
    },
  };
}

export const queueFull = (waiting: number): AgentError =>
  new AgentError(
    'queue_full',
    `The queue is full: ${waiting} waiting. Nothing was stored: try again later, or allow more at a time ` +
      'with inProcessQueue({ concurrency, maxWaiting }).',
    { details: { waiting } },
  );
