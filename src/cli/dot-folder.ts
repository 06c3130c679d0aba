import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Creates the folder for the data of one working folder: readable only by this user, and ignored by version control.
 */
export function makeDotFolder(folder: string): string {
  const path = join(folder, '.onward');
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // also for an existing folder, created by hand or unpacked: it contains whole conversations
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o700);
  const ignore = join(path, '.gitignore');
  if (!existsSync(ignore)) writeFileSync(ignore, '*\n');
  return path;
}
