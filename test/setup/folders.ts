import { rmSync } from 'node:fs';

/**
 * Removes a temporary folder, also while a child process still writes into it. `maxRetries` does not: it retries only
 * the empty folder and leaves a file that was added in between.
 */
export function removeFolder(folder: string): void {
  for (let tries = 1; ; tries++) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (tries === 20) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
  }
}
