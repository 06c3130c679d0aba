import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdsConversation, startExample, type Dialogue } from './node-example.ts';

const next = createRequire(import.meta.url).resolve('next/dist/bin/next');
const { NODE_ENV: _test, ...outside } = process.env;
const env = { ...outside, NEXT_TELEMETRY_DISABLED: '1' };
/** A copy: Next writes beside its sources. In the project, so that it finds the packages as an app does. */
let app = '';

beforeAll(() => {
  mkdirSync('build', { recursive: true });
  app = mkdtempSync(resolve('build/server-next-'));
  cpSync('examples/server-next', app, {
    recursive: true,
    filter: (path) => !path.includes('.next'),
  });
});
afterAll(() => rmSync(app, { recursive: true, force: true }));

const dialogue = (url: string): Dialogue => ({
  url,
  headers: { 'x-user': 'ada' },
  others: { 'x-user': 'ben' },
  message: 'Publish "Spring"',
  tool: 'publish',
  answer: 'Done: "Spring" is on the front page.',
});
const serving = (command: 'dev' | 'start') =>
  startExample({ args: [next, command, '-p', '0', '-H', '127.0.0.1'], cwd: app, env });

describe('the Next example', () => {
  it('builds, types included, and holds a conversation with an approval', async () => {
    const built = spawnSync(process.execPath, [next, 'build'], { cwd: app, env, encoding: 'utf8' });
    expect([built.status, built.stdout + built.stderr]).toEqual([
      0,
      expect.stringContaining('/api/[...path]'),
    ]);
    const { url } = await serving('start');
    await holdsConversation(dialogue(url));
    expect((await fetch(`${url}/api/nothing`)).status).toBe(404);
  }, 240_000);

  it('also while it is developed', async () => {
    const { url } = await serving('dev');
    await holdsConversation(dialogue(url));
  }, 240_000);
});
