import { SessionRuntime } from 'onward';
import { bullQueue } from 'onward/queues/bullmq';
import { postgresStore } from 'onward/stores/postgres';
import { sqliteStore } from 'onward/stores/sqlite';
import { queueAgent } from './queue-agent.ts';

/** The job of a worker process that runs until it is killed. */
export interface QueueChildJob {
  readonly connection: string;
  readonly prefix: string;
  /** A path for SQLite, or a connection string and a schema for PostgreSQL. */
  readonly store: string | { readonly connectionString: string; readonly schema: string };
  readonly toolMs: number;
  readonly lease: { readonly leaseMs: number; readonly heartbeatMs: number };
}

const job = JSON.parse(process.argv[2] ?? '') as QueueChildJob;
const { connection, prefix, toolMs, lease } = job;
const store =
  typeof job.store === 'string' ? sqliteStore({ path: job.store }) : postgresStore(job.store);
const runtime = new SessionRuntime({
  store,
  agents: [queueAgent(toolMs, (key) => console.log(`worked ${key}`))],
  queue: bullQueue({ connection, prefix, concurrency: 5 }),
  lease,
});
runtime.start();
console.log('ready');
