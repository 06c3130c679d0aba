import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { holdsConversation, type Dialogue } from '../server/node-example.ts';
import { launchBrowser } from '../setup/browser.ts';
import { nextApp } from '../setup/next-app.ts';
import { openTab, say } from './chat-page.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

// in one file, so that one worker installs their packages
const app = nextApp('next-use-chat');
const server = nextApp('server-next');
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

type Manifest = Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>;

const packagesOf = (folder: string): Readonly<Record<string, string>> => {
  const manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Manifest;
  return { ...manifest.dependencies, ...manifest.devDependencies };
};

describe('package.json files of the Next examples', () => {
  it('have the versions that the tests use', () => {
    const chat = packagesOf('examples/next-use-chat');
    const ours = packagesOf('.');
    expect(packagesOf('examples/server-next')).toEqual(
      Object.fromEntries(Object.entries(chat).filter(([name]) => !name.includes('ai'))),
    );
    const { next: _next, onward, ...others } = chat;
    expect(onward).toBe('file:../..');
    for (const [name, version] of Object.entries(others))
      expect([name, ours[name]]).toEqual([name, version]);
  });
});

describe('the Next example with useChat', () => {
  it('type-checks', () => {
    const tsc = resolve('node_modules/typescript/bin/tsc');
    const { stdout, status } = spawnSync(
      process.execPath,
      [tsc, '--noEmit', '--incremental', 'false'],
      {
        cwd: app.folder(),
        encoding: 'utf8',
      },
    );
    expect([status, stdout]).toEqual([0, '']);
  });

  it('streams, asks for approval, handles deny and approve, and shows everything after a reload', async () => {
    const { url } = await app.serve('dev');
    // only the page sets the cookie: otherwise parallel first requests would become different users
    expect((await fetch(url)).headers.get('set-cookie')).toMatch(/^visitor=/);
    const unknown = await fetch(`${url}/api/history?chat=x`);
    expect([unknown.status, unknown.headers.get('set-cookie')]).toEqual([401, null]);
    const { page, errors } = await openTab(browser, url);
    /** Waits until the previous answer is complete. */
    const ready = () => page.getByRole('button', { name: 'Send', disabled: false }).waitFor();

    await say(page, 'Hello?');
    await page.getByText('Put it in quotes, and I publish it.').waitFor();
    await ready();
    await say(page, 'Publish "Autumn"');
    await page.getByText('publish {"title":"Autumn"}').waitFor();
    const replays: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/stream')) replays.push(request.url());
    });
    await page.reload();
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('✗ denied').waitFor();
    expect(replays).toEqual([]); // a replay during an answer would remove the answer

    await ready();
    await say(page, 'Publish "Spring"');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Well: "Spring" is on the front page.').waitFor();

    await ready();
    const shown = await page.getByRole('log').innerText();
    await page.reload();
    await page.getByText('Well: "Spring" is on the front page.').waitFor();
    expect(await page.getByRole('log').innerText()).toBe(shown);
    expect(errors).toEqual([]);

    // another user with the same address and another cookie
    const other = await openTab(browser, page.url());
    await other.page.getByRole('textbox', { name: 'Message' }).waitFor();
    expect(await other.page.getByRole('log').innerText()).toBe('');
    await say(other.page, 'Publish "Mine"');
    await other.page.getByRole('alert').getByText('chat').waitFor();
    expect(await other.page.getByText('Spring').count()).toBe(0);
  });
});

const dialogue = (url: string): Dialogue => ({
  url,
  headers: { 'x-user': 'ada' },
  others: { 'x-user': 'ben' },
  message: 'Publish "Spring"',
  tool: 'publish',
  answer: 'Done: "Spring" is on the front page.',
});

describe('the Next server example', () => {
  it('builds with types and runs a conversation with an approval', async () => {
    const built = server.build();
    expect([built.status, built.stdout + built.stderr]).toEqual([
      0,
      expect.stringContaining('/api/[...path]'),
    ]);
    const { url } = await server.serve('start');
    await holdsConversation(dialogue(url));
    expect((await fetch(`${url}/api/nothing`)).status).toBe(404);
  });

  it('works in development mode', async () => {
    const { url } = await server.serve('dev');
    await holdsConversation(dialogue(url));
  });
});
