import { SessionRuntime, type ExecutionQueue, type SessionRuntimeOptions } from 'onward';
import type { MessageBus } from 'onward/bus';
import { postgresBus } from 'onward/bus/postgres';
import { redisBus } from 'onward/bus/redis';
import { bullQueue } from 'onward/queues/bullmq';
import type { SessionStore } from 'onward/stores';
import { postgresStore } from 'onward/stores/postgres';
import { scaleAgent } from './scale-agent.ts';

/** Where the bus is: the scheme of the URL names the server. */
export interface BusPlace {
  readonly url: string;
  readonly channel: string;
}

/** Where the queue is that processes share. */
export interface QueuePlace {
  readonly connection: string;
  readonly prefix: string;
  readonly concurrency: number;
}

/** The job of a process, as plain data. */
export interface ScaleJob {
  readonly folder: string;
  readonly store: { readonly connectionString: string; readonly schema: string };
  readonly bus: BusPlace;
  /** Without it each process has its own queue. */
  readonly queue: QueuePlace | null;
  readonly work: boolean;
  /** Whether it looks for work in the store. */
  readonly sweeps: boolean;
  readonly lease: NonNullable<SessionRuntimeOptions['lease']>;
}

export const openBus = ({ url, channel }: BusPlace): MessageBus =>
  url.startsWith('redis')
    ? redisBus({ connection: url, channel })
    : postgresBus({ listenUrl: url, channel });

export const openQueue = (place: QueuePlace): ExecutionQueue =>
  bullQueue({ ...place, onError: () => {} });

/** The runtime of every process, with its store. */
export function scaleRuntime(
  job: ScaleJob,
  onError: (error: unknown) => void,
): { readonly runtime: SessionRuntime; readonly store: SessionStore } {
  const { folder, queue, work, lease } = job;
  const store = postgresStore({ ...job.store, poolSize: 4 });
  const runtime = new SessionRuntime({
    store,
    agents: [scaleAgent(folder)],
    bus: openBus(job.bus),
    ...(queue && { queue: openQueue(queue) }),
    work,
    lease,
    deps: ({ id }) => ({ session: id }),
    onError,
  });
  return { runtime, store };
}
