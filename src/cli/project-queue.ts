import type { ExecutionQueue } from '../sessions/execution-queue.ts';
import { inProcessQueue } from '../sessions/in-process-queue.ts';
import type { OnwardConfig } from './config.ts';
import { usageError } from './usage-error.ts';

export interface QueueChoice {
  /** Whether to share the config's queue and bus with other processes. */
  readonly isShared?: boolean;
  /** Whether to accept requests and leave the work to other processes, which share queue and bus. */
  readonly isDetached?: boolean;
  /** How many sessions this process runs at the same time. */
  readonly concurrency?: number;
}

/** Chooses the queue of this process; undefined means the default of the runtime. */
export function queueOf(
  config: OnwardConfig | null,
  { isShared = false, isDetached = false, concurrency }: QueueChoice,
): ExecutionQueue | undefined {
  const given = isShared || isDetached ? config?.queue : undefined;
  const options = concurrency === undefined ? {} : { concurrency };
  if (typeof given === 'object' && concurrency !== undefined)
    throw usageError(
      `--concurrency is ${concurrency}, and the config has a queue with a concurrency of its own. Make the queue in a ` +
        'function: queue: (options) => bullQueue({ connection, ...options }).',
    );
  const queue = typeof given === 'function' ? given(options) : given;
  return queue ?? (concurrency === undefined ? undefined : inProcessQueue(options));
}
