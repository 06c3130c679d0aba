import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { startExample, type Example } from '../server/node-example.ts';
import { removeFolder } from './folders.ts';
import { installed } from './installed.ts';

const { NODE_ENV: _test, ...outside } = process.env;
const env = { ...outside, NEXT_TELEMETRY_DISABLED: '1' };

export interface NextApp {
  /** The copy of the example. */
  folder(): string;
  build(): SpawnSyncReturns<string>;
  serve(command: 'dev' | 'start'): Promise<Example>;
}

/** Both Next examples share one install: a test compares the versions in their package.json files. */
const lockOfNext = 'examples/next-use-chat';

/** Copies an example next to the packages of its lock file, because Next writes next to its sources. */
export function nextApp(example: string): NextApp {
  let cwd = '';
  let next = '';
  beforeAll(() => {
    const packages = installed(lockOfNext);
    next = join(packages, 'node_modules/next/dist/bin/next');
    cwd = mkdtempSync(join(packages, `${example}-`));
    const filter = (path: string): boolean => !/node_modules|\.next|package-lock/.test(path);
    cpSync(`examples/${example}`, cwd, { recursive: true, filter });
  }, 300_000);
  afterAll(() => removeFolder(cwd));
  return {
    folder: () => cwd,
    build: () => spawnSync(process.execPath, [next, 'build'], { cwd, env, encoding: 'utf8' }),
    serve: (command) =>
      startExample({ args: [next, command, '-p', '0', '-H', '127.0.0.1'], cwd, env }),
  };
}
