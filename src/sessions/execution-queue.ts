import { AgentError } from '../errors/agent-error.ts';

/** Properties of a session that a queue uses to schedule it. */
export interface QueueEntry {
  /** The owner of the session. Owners take turns. */
  readonly owner?: string;
  readonly agent?: string;
  /** Whether a stop was requested for the session. A stop is quick and runs ahead of waiting sessions. */
  readonly isUrgent?: boolean;
  /**
   * Whether the worker that ran the session died. The session then comes before those that are not lost, within the
   * limits of the queue, and is never refused.
   */
  readonly isLost?: boolean;
}

/** Work of this process, for a queue that processes share. */
export interface LocalWork {
  /** Whether the session waits or runs in this process. If not implemented, a lost session may be added repeatedly. */
  has?(sessionId: string): boolean;
  /** Number of additional sessions that this process can work on now. */
  readonly free: number;
  /**
   * Starts work on a session in this process. Returns false without capacity. A lost session then waits here for it,
   * before any session that the queue delivers.
   */
  tryAdd(sessionId: string, entry: QueueEntry): boolean;
}

/**
 * Decides which process works on a session, and when. A queue may lose its entries: the store knows the open sessions.
 */
export interface ExecutionQueue {
  /**
   * Starts the queue. A runtime that works calls it once, with the function that works on a session and the names of
   * its agents.
   */
  start(work: (sessionId: string) => Promise<void>, agents?: readonly string[]): void;
  /**
   * Adds a session. Throws `queue_full` if the queue is full for its owner. A session that waits is not added again; one that runs
   * gets another turn afterward.
   */
  add(sessionId: string, entry?: QueueEntry): void | Promise<void>;
  /** Whether `add` would throw `queue_full` for every owner. */
  readonly isFull: boolean;
  /** Whether `add` would throw `queue_full` for this owner. If not implemented, a queue is full for all owners at once. */
  isFullFor?(owner: string): boolean;
  /** Number of sessions that wait for their turn. */
  readonly waiting: number;
  /**
   * Whether the session waits or runs in this process. If a queue does not implement it, waiting sessions may be added
   * repeatedly.
   */
  has?(sessionId: string): boolean;
  /** Whether the server of a shared queue is unreachable. The bus then wakes other processes. Default false. */
  readonly isDown?: boolean;
  /** Local capacity of a queue that processes share. Used to start sessions that the queue has lost. */
  readonly local?: LocalWork;
  /** Starts no more sessions, and resolves when all running ones have ended. */
  drain(): Promise<void>;
}

/** How many sessions an owner may let wait for each one that the queue can still take. */
const PER_FREE = 9;

/**
 * Whether one more session of an owner may wait. One owner alone fills nine tenths of a queue: the rest is for owners
 * with fewer sessions, so that none can shut out the others.
 */
export const mayWait = (maxWaiting: number, waiting: number, ofOwner: number): boolean =>
  ofOwner < PER_FREE * (maxWaiting - waiting);

export const queueFull = (waiting: number): AgentError =>
  new AgentError(
    'queue_full',
    `The queue is full: ${waiting} sessions are waiting. Nothing was stored. Try again later, or raise the options ` +
      'concurrency or maxWaiting of the queue.',
    { details: { waiting } },
  );
