import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { evalReports } from '../console/eval-fixtures.ts';
import { launchBrowser } from '../setup/browser.ts';
import { look, looks, openTab, type Tab } from './console-page.ts';
import { api, discard, startDev, type DevProcess } from './dev-process.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

let browser: Browser;
let dev: DevProcess;

beforeAll(async () => {
  mkdirSync('build', { recursive: true });
  const folder = mkdtempSync(resolve('build/e2e-'));
  for (const report of evalReports) {
    const suite = join(folder, '.onward', 'evals', report.suite);
    mkdirSync(suite, { recursive: true });
    writeFileSync(join(suite, `${report.number}.json`), JSON.stringify(report));
  }
  [browser, dev] = await Promise.all([launchBrowser(), startDev({ folder })]);
});
afterAll(async () => {
  await browser?.close();
  await discard(dev);
});

it('serves the reports in .onward/evals to the developer only', async () => {
  const { status } = await api(dev, '/admin/evals');
  expect(status).toBe(200);
  const stranger = await fetch(`${dev.url}/api/admin/evals`);
  expect(stranger.status).toBe(403);
});

describe.each(looks)('the evals page, %s, %i px', (theme, width) => {
  let tab: Tab;
  let page: Page;
  beforeAll(async () => {
    const viewport = { width, height: width > 600 ? 860 : 844 };
    tab = await openTab(browser, dev, { viewport, colorScheme: theme });
    page = tab.page;
  });
  afterAll(() => page?.context().close());
  const see = (name: string): Promise<void> => look(page, `${name}-${theme}-${width}`);

  it('shows cases by scorers, and opens one', async () => {
    await page.goto(`${dev.url}/#/evals`);
    await page.getByRole('table').waitFor();
    await see('evals');
    await page.getByRole('button', { name: 'survives-directory-timeout' }).click();
    await page.getByRole('heading', { name: 'Why it failed' }).waitFor();
    await see('evals-case');
    await page.getByRole('button', { name: 'Compare with run #41' }).click();
    await page.getByRole('heading', { name: 'Answer in run #41' }).waitFor();
    await see('evals-compare');
    // nothing is wider than the window
    const wide = await page.evaluate(
      () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
    );
    expect(wide).toBe(false);
  });

  it('shows repeats and a suite that did not run', async () => {
    await page.goto(`${dev.url}/#/evals/repeated/1?case=flaky`);
    await page.getByRole('group', { name: 'Runs' }).waitFor();
    await see('evals-repeats');
    await page.goto(`${dev.url}/#/evals/broken`);
    await page.getByRole('heading', { name: 'The eval did not run' }).waitFor();
    await see('evals-broken');
  });

  it('causes no error in the browser console', () => {
    expect(tab.errors).toEqual([]);
  });
});
