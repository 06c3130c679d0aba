import type { ExecutionQueue } from 'onward';
import { onTestFinished } from 'vitest';

export interface QueueWork {
  /** Session ids in the order of their start. */
  readonly began: readonly string[];
  readonly running: ReadonlySet<string>;
  /** Ends the run of a session, or of all sessions without an id. */
  end(id?: string): void;
}

/** Makes a queue work and records it. A run ends after `ms` or on request. */
export function workWith(
  queue: ExecutionQueue,
  { ms, agents }: { readonly ms?: number; readonly agents?: readonly string[] } = {},
): QueueWork {
  const began: string[] = [];
  const running = new Map<string, () => void>();
  let isOver = false;
  const end = (id?: string): void => {
    for (const [one, endOne] of running) if (id === undefined || id === one) endOne();
  };
  onTestFinished(() => {
    isOver = true;
    end();
  });
  queue.start(async (id) => {
    if (running.has(id)) began.push(`${id} twice`);
    began.push(id);
    await new Promise<void>((resolve) => {
      running.set(id, resolve);
      if (isOver) resolve();
      else if (ms !== undefined) setTimeout(resolve, ms);
    });
    running.delete(id);
  }, agents);
  return {
    began,
    get running() {
      return new Set(running.keys());
    },
    end,
  };
}

export const idsOf = (letter: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${letter}${n}`);
