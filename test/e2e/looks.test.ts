import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchBrowser } from '../setup/browser.ts';
import { until } from '../setup/sessions.ts';
import { look, looks, openTab, type Tab } from './console-page.ts';
import { api, discard, startDev, type DevProcess } from './dev-process.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const messages = {
  answered: 'Add a lead for Helvetia Robotics with the company data filled in',
  waiting: 'Clean up inactive Alpine leads',
  stopped: 'Enrich every lead of the Baltic program',
  failed: 'Import the leads from Atlantis',
  large: 'Show the full Nordlicht report',
};
type Name = keyof typeof messages;

let browser: Browser;
let dev: DevProcess;
const ids = {} as Record<Name, string>;

beforeAll(async () => {
  [browser, dev] = await Promise.all([launchBrowser(), startDev()]);
  for (const [name, message] of Object.entries(messages) as [Name, string][]) {
    const response = await api(dev, '/sessions', { method: 'POST', body: { message } });
    ids[name] = ((await response.json()) as { id: string }).id;
    await until(async () => {
      const session = await api(dev, `/sessions/${ids[name]}`);
      return ((await session.json()) as { status: string }).status !== 'processing';
    });
  }
});
afterAll(async () => {
  await browser?.close();
  await discard(dev);
});

describe.each(looks)('the console, %s, %i px', (theme, width) => {
  let tab: Tab;
  let page: Page;
  beforeAll(async () => {
    const viewport = { width, height: width > 600 ? 860 : 844 };
    tab = await openTab(browser, dev, { viewport, colorScheme: theme });
    page = tab.page;
  });
  afterAll(() => page?.context().close());

  const go = (path: string): Promise<unknown> => page.goto(`${dev.url}/${path}`);
  const see = (name: string): Promise<void> => look(page, `${name}-${theme}-${width}`);

  it('shows the list of sessions', async () => {
    await go('#/');
    await page.getByRole('link', { name: /Baltic/ }).waitFor();
    await see('sessions');
  });

  it('shows what other limits would have changed', async () => {
    await go('#/what-if?maxSteps=2');
    await page.getByText('Stops after step 2').first().waitFor();
    await see('what-if');
  });

  it('shows the page of a new session', async () => {
    await go('#/new');
    await page.getByRole('button', { name: messages.waiting }).waitFor();
    await see('start');
  });

  it.each(['answered', 'stopped', 'failed', 'waiting', 'large'] as const)(
    'shows the chat of a session: %s',
    async (name) => {
      await go(`#/s/${ids[name]}`);
      await page.getByText(messages[name]).first().waitFor({ state: 'attached' });
      await page
        .getByRole('log')
        .getByText(/^Step 1\b/)
        .first()
        .waitFor();
      await see(`chat-${name}`);
    },
  );

  it('shows an edited approval', async () => {
    await go(`#/s/${ids.waiting}`);
    await page
      .getByRole('button', { name: /^Edit lead_/ })
      .first()
      .click();
    await page.getByLabel('notify_owner').first().selectOption('false');
    await see('chat-edit');
    await page.keyboard.press('Escape');
  });

  it.each(['answered', 'stopped', 'failed', 'waiting'] as const)(
    'shows the trace of a session: %s',
    async (name) => {
      await go(`#/s/${ids[name]}/trace`);
      await page.getByRole('region', { name: 'Timeline' }).waitFor();
      await page.getByRole('region', { name: 'Checks by step' }).waitFor();
      await see(`trace-${name}`);
    },
  );

  it('shows the trace of an earlier step', async () => {
    await go(`#/s/${ids.stopped}/trace/3`);
    await page.getByText(/Why it continued/).waitFor();
    await see('trace-step');
  });

  it('shows a missing session and an empty search', async () => {
    await go('#/s/00000000-0000-4000-8000-000000000000');
    await page.getByRole('heading', { level: 2, name: 'Session not found' }).waitFor();
    await see('not-found');
    await go('#/');
    await page.getByRole('searchbox').fill('nothing of the kind');
    await page.getByText(/Nothing matches/).waitFor();
    await see('search-empty');
    await page.getByRole('searchbox').fill('');
  });

  it('shows the help', async () => {
    await go('#/');
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await see('help');
    await page.keyboard.press('Escape');
  });

  it('causes no error in the browser console', () => {
    // the missing session is requested
    expect(tab.errors.filter((text) => !text.includes('404'))).toEqual([]);
  });
});

it('asks for a token if it is wrong', async () => {
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${dev.url}/#token=wrong-token-0123456789`);
  await page.getByLabel('Token or address').waitFor();
  await look(page, 'signed-out-light-1280');
});
