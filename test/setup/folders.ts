import { rmSync } from 'node:fs';

/** Removes a temporary folder, also while a process that was ended a moment ago still writes into it. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
