import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startExample } from '../server/node-example.ts';
import { launchBrowser } from '../setup/browser.ts';
import { openTab, say } from './chat-page.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const next = createRequire(import.meta.url).resolve('next/dist/bin/next');
const { NODE_ENV: _test, ...outside } = process.env;
const env = { ...outside, NEXT_TELEMETRY_DISABLED: '1' };
/** A copy: Next writes beside its sources. In the project, so that it finds the packages as an app does. */
let app = '';
let browser: Browser;

beforeAll(async () => {
  mkdirSync('build', { recursive: true });
  app = mkdtempSync(resolve('build/next-use-chat-'));
  const filter = (path: string): boolean => !path.includes('.next');
  cpSync('examples/next-use-chat', app, { recursive: true, filter });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  rmSync(app, { recursive: true, force: true });
});

describe('the Next app with useChat', () => {
  it('streams, asks, keeps a no and a yes, and shows it all again after a reload', async () => {
    const { url } = await startExample({
      args: [next, 'dev', '-p', '0', '-H', '127.0.0.1'],
      cwd: app,
      env,
    });
    const { page, errors } = await openTab(browser, url);
    /** The answer before is complete. */
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
    expect(replays).toEqual([]); // one that arrives while somebody answers would take the answer back

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

    // somebody else, with the same address and a cookie of their own
    const other = await openTab(browser, page.url());
    await other.page.getByRole('textbox', { name: 'Message' }).waitFor();
    expect(await other.page.getByRole('log').innerText()).toBe('');
    await say(other.page, 'Publish "Mine"');
    await other.page.getByRole('alert').getByText('chat').waitFor();
    expect(await other.page.getByText('Spring').count()).toBe(0);
  });
});
