import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { removeFolder } from '../setup/folders.ts';

/** The TypeScript runner behind `npx jiti`. */
export const jiti: string = createRequire(import.meta.url)
  .resolve('jiti')
  .replace(/lib[\\/]jiti\.[cm]?js$/, join('lib', 'jiti-cli.mjs'));

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'onward-starter-'));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of an example in a folder until it exits. */
export function runStarter(
  file: string,
  options: { readonly cwd: string; readonly args?: readonly string[]; readonly input?: string },
): Promise<Ended> {
  const { cwd, args = [], input = '' } = options;
  const child = spawn(process.execPath, [jiti, resolve('examples', file), ...args], {
    cwd,
    stdio: 'pipe',
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (data) => (stdout += String(data)));
  child.stderr.on('data', (data) => (stderr += String(data)));
  child.stdin.on('error', () => {}); // it may exit before it has read everything
  child.stdin.end(input);
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => done({ code, stdout, stderr }));
  });
}
