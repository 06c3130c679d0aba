import { whole } from '../errors/agent-error.ts';
import {
  mayWait,
  queueFull,
  type ExecutionQueue,
  type LocalWork,
  type QueueEntry,
} from './execution-queue.ts';
import { FairList, type FairListLimits, type Running } from './fair-list.ts';

/** Limits on the sessions that a process works on at the same time. */
export interface ConcurrencyOptions {
  /** Most sessions at the same time. Default of `inProcessQueue` 500, of `bullQueue` 50. */
  readonly concurrency?: number;
  /** Most sessions of one owner. Default: no limit. */
  readonly maxPerOwner?: number;
  /** Most sessions of one agent, by agent name. Default: no limit. */
  readonly agents?: Readonly<Record<string, number>>;
}

export interface InProcessQueueOptions extends ConcurrencyOptions {
  /** Most sessions that may wait for their turn. Default 10,000. */
  readonly maxWaiting?: number;
}

/** Creates the default queue, in memory. Owners take turns, and a session has one turn at a time. */
export function inProcessQueue(options: InProcessQueueOptions = {}): ExecutionQueue {
  const maxWaiting = whole('inProcessQueue maxWaiting', options.maxWaiting ?? 10_000);
  return localQueue(checkedLimits('inProcessQueue', { concurrency: 500, ...options }), maxWaiting);
}

/** The part of a shared queue that runs in this process. */
export interface LocalQueue extends ExecutionQueue, LocalWork {
  isRunning(sessionId: string): boolean;
  /** Whether a session with these properties could start now. */
  canBegin(entry: QueueEntry): boolean;
}

export function localQueue(limits: FairListLimits, maxWaiting: number): LocalQueue {
  const list = new FairList(limits);
  const running = new Map<string, Promise<void>>();
  /** Running sessions that were added again. */
  const again = new Map<string, QueueEntry>();
  /** Urgent sessions that cannot start yet: they already run, or the queue is not started. */
  const urgent = new Set<string>();
  let work: ((sessionId: string) => Promise<void>) | null = null;
  let isDraining = false;

  const waiting = (): number => list.size + again.size;
  const isFullFor = (owner: string = ''): boolean =>
    !mayWait(maxWaiting, waiting(), list.sizeOf(owner));
  const beginWaiting = (): void => {
    if (work === null || isDraining) return;
    for (let turn = list.next(); turn; turn = list.next()) begin(turn.sessionId, work, turn);
  };
  const beginUrgent = (sessionId: string): void => {
    list.remove(sessionId);
    again.delete(sessionId);
    if (work === null || running.has(sessionId)) urgent.add(sessionId);
    else begin(sessionId, work, null);
  };
  const begin = (sessionId: string, take: NonNullable<typeof work>, turn: Running | null): void => {
    const ended = (): void => {
      running.delete(sessionId);
      if (turn) list.end(turn);
      const entry = again.get(sessionId);
      again.delete(sessionId);
      if (isDraining) return;
      if (urgent.delete(sessionId)) beginUrgent(sessionId);
      else if (entry) put(sessionId, entry);
      beginWaiting();
    };
    running.set(sessionId, Promise.resolve()); // set before the work starts
    // the runtime reports failures
    running.set(sessionId, (async () => take(sessionId))().then(ended, ended));
  };
  const put = (sessionId: string, { owner = '', agent = '', isLost }: QueueEntry): void =>
    list.add(sessionId, owner, agent, isLost);

  const canBegin: LocalQueue['canBegin'] = ({ owner = '', agent = '' }) =>
    work !== null && !isDraining && list.canBegin(owner, agent);
  const add: LocalQueue['add'] = (sessionId, entry = {}) => {
    if (isDraining) return;
    if (entry.isUrgent) return beginUrgent(sessionId);
    if (again.has(sessionId) || urgent.has(sessionId)) return;
    if (list.has(sessionId)) {
      if (entry.isLost) put(sessionId, entry);
      return;
    }
    if (isFullFor(entry.owner) && !entry.isLost) throw queueFull(waiting());
    if (running.has(sessionId)) again.set(sessionId, entry);
    else put(sessionId, entry);
    beginWaiting();
  };

  return {
    start(given): void {
      work = given;
      const early = Array.from(urgent);
      urgent.clear();
      for (const sessionId of early) beginUrgent(sessionId);
      beginWaiting();
    },
    add,
    get isFull() {
      return waiting() >= maxWaiting;
    },
    isFullFor,
    get waiting() {
      return waiting();
    },
    get free() {
      return work === null || isDraining ? 0 : Math.max(0, list.free);
    },
    has: (sessionId) => list.has(sessionId) || running.has(sessionId),
    isRunning: (sessionId) => running.has(sessionId),
    canBegin,
    tryAdd(sessionId, entry): boolean {
      const mayWait = entry.isUrgent || entry.isLost || running.has(sessionId);
      if (!mayWait && !canBegin(entry)) return false;
      void add(sessionId, entry);
      return true;
    },
    async drain(): Promise<void> {
      isDraining = true;
      list.clear();
      again.clear();
      urgent.clear();
      await Promise.all(running.values());
    },
  };
}

export function checkedLimits(
  where: string,
  { concurrency = 50, maxPerOwner, agents = {} }: ConcurrencyOptions,
): FairListLimits {
  const limit = (name: string, value: number): number => whole(`${where} ${name}`, value);
  return {
    concurrency: limit('concurrency', concurrency),
    maxPerOwner:
      maxPerOwner === undefined ? Number.POSITIVE_INFINITY : limit('maxPerOwner', maxPerOwner),
    agents: new Map(
      Object.entries(agents).map(([name, most]) => [name, limit(`agents.${name}`, most)]),
    ),
  };
}
