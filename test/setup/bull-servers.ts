import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';
import { bullQueue, type BullQueueOptions } from '../../src/queues/bullmq/index.ts';
import type { ExecutionQueue } from '../../src/sessions/execution-queue.ts';
import { startPostgres } from './postgres.ts';
import { hasRedis, startRedis } from './redis.ts';

/** A server that stores queues. */
export interface BullServer {
  readonly url: string;
  /** Kills it like a crash. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Deletes all queue data. */
  clear(): Promise<void>;
  /** Blocks all queue operations until the returned function is called. */
  freeze(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

async function redisServer(): Promise<BullServer> {
  const server = await startRedis();
  return {
    ...server,
    async clear() {
      const client = new Redis(server.url);
      await client.flushall();
      client.disconnect();
    },
    async freeze() {
      const client = new Redis(server.url);
      const [, pid] = /process_id:(\d+)/.exec(await client.info('server')) ?? [];
      client.disconnect();
      process.kill(Number(pid), 'SIGSTOP');
      return async () => void process.kill(Number(pid), 'SIGCONT');
    },
  };
}

async function postgresServer(): Promise<BullServer> {
  const server = await startPostgres();
  const { kill } = server;
  if (!kill) throw new Error('These tests kill PostgreSQL: run them without ONWARD_TEST_POSTGRES.');
  /** Runs a statement for the schema of each queue, on its own connection. */
  const forEachQueue = async (statement: (schema: string) => string): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    const { rows } = await client.query<{ name: string }>(
      `select nspname as name from pg_namespace where nspname like 'queue\\_%'`,
    );
    await client.query('begin');
    for (const { name } of rows) await client.query(statement(name));
    return client;
  };
  return {
    ...server,
    kill,
    async clear() {
      const client = await forEachQueue((schema) => `drop schema "${schema}" cascade`);
      await client.query('commit');
      await client.end();
    },
    async freeze() {
      const client = await forEachQueue((schema) => `lock table "${schema}".job`);
      return () => client.end();
    },
  };
}

type Start = () => Promise<BullServer>;
const servers: readonly (readonly [string, Start])[] = [
  ...(hasRedis ? [['Redis', redisServer] as const] : []),
  ['PostgreSQL', postgresServer],
];

/** Runs the tests with Redis, if it is installed, and with PostgreSQL. Each test has its own queue. */
export function describeServers(
  title: string,
  tests: (server: () => BullServer, newQueues: () => (options?: QueueOptions) => TestQueue) => void,
): void {
  describe.each(servers)(`${title} on %s`, (_, start) => {
    let server: BullServer;
    beforeAll(async () => {
      server = await start();
    }, 60_000);
    afterAll(() => server?.stop());
    tests(
      () => server,
      () => queuesOn(server.url, `queue_${queueCount++}`),
    );
  });
}
let queueCount = 0;

export type QueueOptions = Partial<BullQueueOptions>;

export interface TestQueue extends ExecutionQueue {
  /** The reported errors. */
  readonly errors: readonly Error[];
}

/** Opens the queue as another process would. */
const queuesOn =
  (connection: string, prefix: string) =>
  (options: QueueOptions = {}): TestQueue => {
    const errors: Error[] = [];
    const onError = (error: Error): void => void errors.push(error);
    const queue = bullQueue({ connection, prefix, onError, ...options });
    onTestFinished(() => queue.drain());
    return Object.assign(queue, { errors });
  };
