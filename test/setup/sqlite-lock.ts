import { onTestFinished } from 'vitest';
import { lockProcess, type Lock } from './lock-process.ts';

/** Like {@link lockProcess}, released when the test ends. */
export async function lockedBy(path: string, sql: string): Promise<Lock> {
  const lock = await lockProcess(path, sql);
  onTestFinished(lock.release);
  return lock;
}

/** The share of time in which the event loop was blocked for more than 50 ms at a time. */
export function watchLoop(): { readonly blockedShare: number; stop(): void } {
  const began = performance.now();
  let last = began;
  let blocked = 0;
  const look = (): void => {
    const now = performance.now();
    if (now - last > 50) blocked += now - last;
    last = now;
  };
  const timer = setInterval(look, 5);
  onTestFinished(() => clearInterval(timer));
  return {
    get blockedShare() {
      look();
      return blocked / (performance.now() - began);
    },
    stop: () => clearInterval(timer),
  };
}
