import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { removeFolder } from './folders.ts';

/**
 * Installs the packages of a lock file below `build/`, once per lock file, and returns the folder. Workers that call it
 * at the same time get the same folder.
 */
export function installed(source: string): string {
  const files = ['package.json', 'package-lock.json'];
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(join(source, file)));
  const name = `packages-of-${basename(source)}-`;
  const folder = resolve('build', `${name}${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  mkdirSync('build', { recursive: true });
  console.log(`Installing the packages of ${source} ...`);
  const draft = mkdtempSync(`${folder}-`);
  try {
    for (const file of files) cpSync(join(source, file), join(draft, file));
    ci(draft);
    // a database that runs as another user has to be able to read it
    chmodSync(draft, 0o755);
    renameSync(draft, folder);
  } catch (error) {
    removeFolder(draft);
    // another worker was faster
    if (!existsSync(folder)) throw error;
  }
  for (const other of readdirSync('build'))
    if (other.startsWith(name) && /-[0-9a-f]{12}$/.test(other) && other !== basename(folder))
      removeFolder(join('build', other));
  return folder;
}

function ci(cwd: string): void {
  const argv = ['ci', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=5'];
  const shell = process.platform === 'win32';
  const { status, stdout, stderr } = spawnSync('npm', argv, { cwd, shell, encoding: 'utf8' });
  if (status !== 0)
    throw new Error(
      `npm ci failed in ${cwd} (exit code ${status}). System tests need the npm registry once per lock file.\n` +
        `${stdout}${stderr}`,
    );
}
