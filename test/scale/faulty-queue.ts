import type { ExecutionQueue } from 'onward';

/** A queue that loses this share of what is added and of what it delivers, and as much comes twice. */
export function faultyQueue(
  queue: ExecutionQueue,
  share: number,
  random: () => number,
): ExecutionQueue {
  const times = (): number => {
    const drawn = random();
    if (drawn < share) return 0;
    return drawn < 2 * share ? 2 : 1;
  };
  const repeat = async (work: () => void | Promise<void>): Promise<void> => {
    await Promise.all(Array.from({ length: times() }, async () => work()));
  };
  // properties of a queue are read when they are asked for
  return Object.create(queue, {
    start: {
      value: (work: (sessionId: string) => Promise<void>, agents?: readonly string[]) =>
        queue.start((sessionId) => repeat(() => work(sessionId)), agents),
    },
    add: {
      value: (...session: Parameters<ExecutionQueue['add']>) => repeat(() => queue.add(...session)),
    },
  }) as ExecutionQueue;
}
