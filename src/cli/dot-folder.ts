import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Makes the folder that keeps what belongs to one working folder: for this user alone, and out of version control. */
export function makeDotFolder(folder: string): string {
  const path = join(folder, '.onward');
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // one that was there before, made by hand or unpacked: it holds whole conversations
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o700);
  const ignore = join(path, '.gitignore');
  if (!existsSync(ignore)) writeFileSync(ignore, '*\n');
  return path;
}
