import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { startExample, type Example } from '../server/node-example.ts';
import { removeFolder } from './folders.ts';

const next = createRequire(import.meta.url).resolve('next/dist/bin/next');
const { NODE_ENV: _test, ...outside } = process.env;
const env = { ...outside, NEXT_TELEMETRY_DISABLED: '1' };

export interface NextApp {
  build(): SpawnSyncReturns<string>;
  serve(command: 'dev' | 'start'): Promise<Example>;
}

/** A copy of an example: Next writes beside its sources. In the project, so that it finds the packages as an app does. */
export function nextApp(example: string): NextApp {
  let cwd = '';
  beforeAll(() => {
    mkdirSync('build', { recursive: true });
    cwd = mkdtempSync(resolve(`build/${example}-`));
    const filter = (path: string): boolean => !path.includes('.next');
    cpSync(`examples/${example}`, cwd, { recursive: true, filter });
  });
  afterAll(() => removeFolder(cwd));
  return {
    build: () => spawnSync(process.execPath, [next, 'build'], { cwd, env, encoding: 'utf8' }),
    serve: (command) =>
      startExample({ args: [next, command, '-p', '0', '-H', '127.0.0.1'], cwd, env }),
  };
}
