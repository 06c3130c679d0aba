import type { Queue, QueueBase, Worker } from 'bullmq';
import { AgentError } from '../../errors/agent-error.ts';
import { isSessionId } from '../../sessions/check-names.ts';
import { inTime } from '../../sessions/in-time.ts';
import type { BullTarget } from './bull-connection.ts';
import { dropSockets, guardSockets } from './bull-sockets.ts';
import type { QueueLink } from './queue-server.ts';
import type { JobOutcome, SessionJob, TakenJob } from './shared-turns.ts';

export interface BullLinkOptions {
  readonly target: BullTarget;
  readonly prefix: string;
  readonly concurrency: number;
  /** Works on a job that this process took. */
  process(job: TakenJob): Promise<JobOutcome>;
}

type Bull = typeof import('bullmq');
type JobQueue = Queue<SessionJob, void, 'session'>;
type JobWorker = Worker<SessionJob, void, 'session'>;

const NAME = 'sessions';
const OPEN_MS = 10_000;
const CLOSE_MS = 3_000;
const GIVE_BACK_MS = 50;
/** Connections of a process to PostgreSQL for adding and for taking jobs. One more listens. */
const ADD_CONNECTIONS = 2;
const TAKE_CONNECTIONS = 3;

/**
 * BullMQ options with which jobs of a dead process return to the queue after a few seconds, however often that happens.
 */
const workerOptions = {
  lockDuration: 5_000,
  stalledInterval: 2_000,
  maxStalledCount: 1_000_000,
  runRetryDelay: 500,
  autorun: false,
} as const;

/**
 * Connects to the server. Rejects if it does not answer. BullMQ remembers some failures forever, so a broken link is
 * replaced, never repaired.
 */
export async function openBullLink(
  options: BullLinkOptions,
  isWorker: boolean,
  failed: (error: unknown) => void,
): Promise<QueueLink> {
  const bull = await loadBull();
  let lost: unknown = null;
  const lose = (error: unknown): void => {
    lost ??= error;
    failed(error);
  };
  const watch = (part: QueueBase): void => {
    guardSockets(part.getBackend());
    part.on('error', failed);
    part.on('ioredis:close', () => lose(new Error('the connection was closed')));
  };
  const queue = newQueue(bull, options);
  watch(queue);
  let worker: JobWorker | null = null;
  const close = async (isOrderly: boolean): Promise<void> => {
    const backends = [queue, worker].flatMap((part) => part?.getBackend() ?? []);
    const closing: Promise<unknown> = isOrderly
      ? Promise.resolve(worker?.close()).then(() => queue.close())
      : Promise.all([worker?.close(true), queue.getBackend().close(true)]);
    await inTime(closing, CLOSE_MS, noAnswer).catch(() => {});
    await Promise.all(backends.map(dropSockets));
  };

  try {
    await inTime(queue.waitUntilReady(), OPEN_MS, noAnswer);
    if (isWorker) {
      worker = newWorker(bull, options);
      watch(worker);
      worker.on('failed', (_job, error) => failed(error));
      await inTime(worker.waitUntilReady(), OPEN_MS, noAnswer);
      worker.run().catch(lose);
    }
  } catch (error) {
    void close(false);
    throw error;
  }

  return {
    isWorker,
    close,
    stopTaking(): void {
      void worker?.close();
    },
    async count(): Promise<number> {
      if (lost) throw lost;
      // a worker has its own connections
      await worker?.getBackend().getQueueMetaField('version');
      return queue.getJobCountByTypes('waiting', 'prioritized', 'delayed');
    },
    async add(data, priority): Promise<void> {
      const { sessionId, isUrgent = false } = data;
      await queue.add('session', data, {
        // one job per session; a job that is added while another runs follows it
        deduplication: { id: isUrgent ? `!${sessionId}` : sessionId, keepLastIfActive: true },
        priority,
        attempts: 1,
        removeOnComplete: true,
        removeOnFail: true,
      });
    },
  };
}

function newQueue(bull: Bull, { target, prefix }: BullLinkOptions): JobQueue {
  // migrations run under a lock
  const postgres = isPostgres(target) ? { max: ADD_CONNECTIONS, migrate: true } : {};
  const connection = { ...postgres, ...target.options };
  // the events are not used
  const streams = { events: { maxLen: 100 } };
  return new bull.Queue(NAME, { connection, prefix, streams }, ...backendOf(bull, target));
}

function newWorker(bull: Bull, options: BullLinkOptions): JobWorker {
  const { target, prefix, concurrency, process } = options;
  const postgres = isPostgres(target) ? { max: TAKE_CONNECTIONS } : {};
  return new bull.Worker<SessionJob, void, 'session'>(
    NAME,
    async (job, token = '') => {
      const { data, attemptsStarted: takes } = job;
      if (!isSessionId(data.sessionId)) return; // not a job of this queue
      const promote = (): void => void job.promote().catch(() => {}); // the job was taken in between
      const outcome = await process({ data, takes, promote });
      if (outcome === 'done') return;
      // a delayed job wakes an idle process, a waiting one does not
      const afterMs = outcome === 'return' ? 1 : outcome.afterMs;
      await job.moveToDelayed(Date.now() + afterMs, token);
      // give other processes time, so that this one does not take the same job next
      if (outcome === 'return') await rest();
      throw new bull.DelayedError();
    },
    { ...workerOptions, connection: { ...postgres, ...target.options }, prefix, concurrency },
    ...backendOf(bull, target),
  );
}

const isPostgres = ({ server }: BullTarget): boolean => server === 'PostgreSQL';

/** Returns the backend argument of BullMQ. Redis is its default. */
const backendOf = (bull: Bull, target: BullTarget): never[] =>
  isPostgres(target) ? [bull.createPostgresBackend as never] : [];

const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, GIVE_BACK_MS));

const noAnswer = (): Error => new Error('the server did not answer in time');

const loadBull = (): Promise<Bull> =>
  import('bullmq').catch((cause: unknown) => {
    throw new AgentError(
      'package_missing',
      'bullQueue needs the package bullmq, which is not installed. Run: npm install bullmq ioredis (for Redis), or ' +
        'npm install bullmq pg (for PostgreSQL)',
      { cause },
    );
  });
