import { inProcessQueue, type ExecutionQueue, type SessionRuntimeOptions } from 'onward';
import { seededRandom, seedOf } from '../kill/random.ts';
import { faultyQueue } from './faulty-queue.ts';
import { openBus, openQueue, type BusPlace, type QueuePlace } from './scale-job.ts';

/** How a process reaches the others. */
export interface SharedPlaces {
  readonly bus: BusPlace;
  /** Without a connection each process has its own queue. */
  readonly queue: QueuePlace | { readonly concurrency: number };
  readonly work: boolean;
  /** Share of additions and deliveries of the queue that are lost, and of those that come twice. */
  readonly faults: number;
}

export function sharedOptions(
  { bus, queue, work, faults }: SharedPlaces,
  seed: number,
): Pick<SessionRuntimeOptions, 'bus' | 'queue' | 'work'> {
  const opened: ExecutionQueue = 'connection' in queue ? openQueue(queue) : inProcessQueue(queue);
  const random = seededRandom(seedOf(seed, 'queue'));
  return {
    bus: openBus(bus),
    queue: faults > 0 ? faultyQueue(opened, faults, random) : opened,
    work,
  };
}
