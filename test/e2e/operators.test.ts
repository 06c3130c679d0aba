import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchBrowser } from '../setup/browser.ts';
import { until } from '../setup/sessions.ts';
import { look, openTab, type Tab } from './console-page.ts';
import { api, discard, startDev, type DevProcess } from './dev-process.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const messages = [
  'Add a lead for Helvetia Robotics with the company data filled in',
  'Clean up inactive Alpine leads',
  'Enrich every lead of the Baltic program',
  'Import the leads from Atlantis',
];

let browser: Browser;
let dev: DevProcess;

beforeAll(async () => {
  [browser, dev] = await Promise.all([launchBrowser(), startDev()]);
  for (const message of messages) {
    const response = await api(dev, '/sessions', { method: 'POST', body: { message } });
    const { id } = (await response.json()) as { id: string };
    await until(async () => {
      const session = await api(dev, `/sessions/${id}`);
      return ((await session.json()) as { status: string }).status !== 'processing';
    });
  }
});
afterAll(async () => {
  await browser?.close();
  await discard(dev);
});

describe.each([
  ['light', 1280],
  ['dark', 390],
] as const)('the pages for operators, %s, %i px', (theme, width) => {
  let tab: Tab;
  let page: Page;
  beforeAll(async () => {
    const viewport = { width, height: width > 600 ? 800 : 844 };
    tab = await openTab(browser, dev, { viewport, colorScheme: theme });
    page = tab.page;
  });
  afterAll(() => page?.context().close());
  const go = (path: string): Promise<unknown> => page.goto(`${dev.url}/${path}`);
  const see = (name: string): Promise<void> => look(page, `${name}-${theme}-${width}`);

  it('show the sessions, those that need attention first', async () => {
    await go('#/sessions');
    await page.getByText('Needs attention').first().waitFor();
    await page.getByRole('link', { name: /Baltic/ }).waitFor();
    await page.getByLabel('Select Clean up inactive Alpine leads').check();
    await page.getByRole('group', { name: 'Selected sessions' }).waitFor();
    await see('sessions-table');
  });

  it('show an overview, whose bars open the list', async () => {
    await go('#/overview');
    await page.getByRole('region', { name: 'Step time' }).waitFor();
    await see('overview');
    await page.getByRole('link', { name: /^View \d+ runs$/ }).click();
    await page.waitForURL(/#\/sessions\?updated=/);
    await page.getByRole('link', { name: /Baltic/ }).waitFor();
  });

  it('show the workers and what waits for them', async () => {
    await go('#/workers');
    await page.getByRole('region', { name: 'All workers' }).waitFor();
    await page.locator('.workers-table [data-status]').first().waitFor();
    await see('workers');
  });

  it('have a command palette that needs no mouse', async () => {
    await go('#/overview');
    await page.getByRole('region', { name: 'Step time' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('Baltic');
    await page.getByRole('option', { name: /Baltic/ }).waitFor();
    await see('palette');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/s\//);
  });

  it('find sessions, and say where', async () => {
    await go('#/sessions?q=Atlantis');
    await page.locator('.cell-match').first().waitFor();
    await see('sessions-search');
    await go('#/sessions?q=nothing-of-the-kind&status=failed');
    await page.getByText('No session matches').waitFor();
    await see('sessions-nothing');
  });

  it('show the sessions of all owners without titles', async () => {
    await go('#/sessions?all=1');
    await page.getByRole('button', { name: 'Admin: all owners' }).waitFor();
    await page.locator('[data-row]').first().waitFor();
    await see('sessions-admin');
  });

  it('cause no error in the browser console', () => {
    expect(tab.errors).toEqual([]);
  });
});
