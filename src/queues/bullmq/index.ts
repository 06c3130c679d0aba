import { whole, type AgentError } from '../../errors/agent-error.ts';
import { logMessage } from '../../errors/log-text.ts';
import { mayWait, queueFull, type ExecutionQueue } from '../../sessions/execution-queue.ts';
import {
  checkedLimits,
  localQueue,
  type ConcurrencyOptions,
} from '../../sessions/in-process-queue.ts';
import { bullTarget, queueFailed, type BullConnection } from './bull-connection.ts';
import { openBullLink } from './bull-link.ts';
import { OwnerPriorities } from './owner-priorities.ts';
import { QueueServer } from './queue-server.ts';
import { SharedTurns } from './shared-turns.ts';

export type { BullConnection } from './bull-connection.ts';

/** Options of `bullQueue`. The concurrency limits apply to one process. */
export interface BullQueueOptions extends ConcurrencyOptions {
  /** Server of the queue. PostgreSQL needs a connection that supports LISTEN, so not PgBouncer in transaction mode. */
  readonly connection: BullConnection;
  /**
   * Most sessions that may wait for their turn, in all processes together. Not enforced while the server is
   * unreachable. Default 10,000.
   */
  readonly maxWaiting?: number;
  /** Prefix of the keys in Redis, or schema in PostgreSQL. Default `onward_queue`. */
  readonly prefix?: string;
  /** Called once for each outage of the server. An outage delays work but loses none. Default: console.error. */
  readonly onError?: (error: AgentError) => void;
}

/**
 * Creates a queue that all processes of a store share, with BullMQ on Redis or PostgreSQL. If the server loses a job, a
 * process finds the session in the store later. The server may be down when a process starts, and `add` never fails
 * because of it.
 */
export function bullQueue(options: BullQueueOptions): ExecutionQueue {
  const { connection, prefix = 'onward_queue', onError = print } = options;
  const limits = checkedLimits('bullQueue', options);
  const maxWaiting = whole('bullQueue maxWaiting', options.maxWaiting ?? 10_000);
  const target = bullTarget(connection, prefix);
  const turns = new SharedTurns(localQueue(limits, Number.MAX_SAFE_INTEGER));
  const priorities = new OwnerPriorities();
  const { concurrency } = limits;
  const link = { target, prefix, concurrency, process: turns.work.bind(turns) };
  const server = new QueueServer({
    connect: (isWorker, failed) => openBullLink(link, isWorker, failed),
    report(error) {
      try {
        onError(queueFailed(target, error));
      } catch {
        // an error of the callback does not affect the queue
      }
    },
  });
  let isWorker = false;
  let isDraining = false;
  const isFullFor = (owner: string): boolean =>
    !mayWait(maxWaiting, server.waiting, priorities.waitingOf(owner, server.waiting));

  return {
    start(work, agents): void {
      isWorker = true;
      turns.start(work, agents);
      server.open(true);
    },
    async add(sessionId, { owner = '', agent = '', isUrgent = false } = {}): Promise<void> {
      if (isDraining) return;
      if (isUrgent && isWorker) return void turns.tryAdd(sessionId, { isUrgent });
      if (isFullFor(owner) && !isUrgent) throw queueFull(server.waiting);
      server.open(false);
      const job = { sessionId, owner, agent, ...(isUrgent && { isUrgent }) };
      const priority = isUrgent ? 0 : priorities.next(owner, server.mostWaiting);
      const isKept = (await server.add(job, priority)) || turns.tryAdd(sessionId, job);
      if (!isKept) server.addLater(job, priority);
    },
    get isFull() {
      return server.waiting >= maxWaiting;
    },
    isFullFor,
    get waiting() {
      return server.waiting;
    },
    get isDown() {
      return server.isDown;
    },
    local: turns,
    async drain(): Promise<void> {
      isDraining = true;
      server.stopTaking();
      await turns.drain();
      await server.close();
    },
  };
}

function print(error: AgentError): void {
  console.error(`onward: ${logMessage(error)}`);
}
