import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Trace } from '../../src/trace/trace.ts';
import { longTrace } from '../console/trace-fixtures.ts';
import { launchBrowser } from '../setup/browser.ts';
import { until } from '../setup/sessions.ts';
import { look, looks, openTab, type Tab } from './console-page.ts';
import { api, discard, startDev, type DevProcess } from './dev-process.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const messages = {
  waiting: 'Clean up inactive Alpine leads',
  stopped: 'Enrich every lead of the Baltic program',
} as const;
type Name = keyof typeof messages;

let browser: Browser;
let dev: DevProcess;
const ids = {} as Record<Name | 'fork', string>;

const posted = async (path: string, body: unknown): Promise<{ id: string }> =>
  (await (await api(dev, path, { method: 'POST', body })).json()) as { id: string };

async function settled(id: string): Promise<void> {
  await until(async () => {
    const session = await api(dev, `/sessions/${id}`);
    return ((await session.json()) as { status: string }).status !== 'processing';
  });
}

beforeAll(async () => {
  [browser, dev] = await Promise.all([launchBrowser(), startDev()]);
  for (const [name, message] of Object.entries(messages) as [Name, string][]) {
    ids[name] = (await posted('/sessions', { message })).id;
    await settled(ids[name]);
  }
  ids.fork = (await posted(`/sessions/${ids.stopped}/fork`, { atStep: 2 })).id;
  await posted(`/sessions/${ids.fork}/resume`, { grant: { steps: 3 } });
  await settled(ids.fork);
});
afterAll(async () => {
  await browser?.close();
  await discard(dev);
});

describe.each(looks)('the payloads of a step, %s, %i px', (theme, width) => {
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

  it('shows why the run stopped', async () => {
    await go(`#/s/${ids.stopped}/trace`);
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
    await see('payloads-decision');
  });

  it('shows the request and the response of a model call', async () => {
    await go(`#/s/${ids.stopped}/trace/2?tab=model`);
    await page.getByRole('region', { name: 'Request' }).waitFor();
    await page.getByText('+ New').first().waitFor();
    await see('payloads-model');
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await page.getByText('System prompt').click();
    await page.getByText('unchanged').first().waitFor();
    await see('payloads-model-all');
  });

  it('shows tool calls, the failed one first and open', async () => {
    await go(`#/s/${ids.stopped}/trace/2`);
    await page.getByRole('tab', { name: /Tool calls/ }).click();
    await page.getByText('Arguments').first().waitFor();
    await see('payloads-tools');
  });

  it('shows the records as JSON', async () => {
    await go(`#/s/${ids.stopped}/trace/2?tab=raw`);
    await page.getByText('"toolChoice"').waitFor();
    await see('payloads-raw');
  });

  it('compares a fork with its origin: the first difference, and why', async () => {
    await go(`#/compare?left=${ids.stopped}&right=${ids.fork}`);
    await page.getByRole('region', { name: /^(?:Fork|Second)/ }).waitFor();
    await see('compare');
    await go('#/compare');
    await page.getByText('Choose two sessions').waitFor();
    await see('compare-choose');
  });

  it('changes the tab with 1 to 4 and the step with N, and keeps both in the address', async () => {
    await go(`#/s/${ids.stopped}/trace/2?tab=raw`);
    await page.getByText('"toolChoice"').waitFor();
    await page.keyboard.press('2');
    await page.getByRole('tab', { name: 'Model call', selected: true }).waitFor();
    expect(page.url()).toContain('/trace/2?tab=model');
    await page.keyboard.press('1');
    await page.getByRole('tab', { name: 'Decision', selected: true }).waitFor();
  });

  it('causes no error in the browser console', () => {
    expect(tab.errors).toEqual([]);
  });
});

it('paints a session of 1,000 steps at most three times as late as one without steps', async () => {
  const { page } = await openTab(browser, dev);
  let shown: Trace = longTrace(1);
  await page.route(/\/trace(?:\?|$)/, (route) => route.fulfill({ json: shown }));
  /** Milliseconds from the navigation to the first row, or to the note that there is none; the best of several. */
  const paint = async (trace: Trace, what: string): Promise<number> => {
    shown = trace;
    const times: number[] = [];
    for (let i = 0; i < 4; i++) {
      await page.goto('about:blank');
      await page.goto(`${dev.url}/#/s/${ids.stopped}/trace`);
      await page.locator(what).first().waitFor();
      times.push(await page.evaluate(() => performance.now()));
    }
    return Math.min(...times);
  };
  const empty = { ...longTrace(1), steps: [], outcome: null, stop: null };
  const none = await paint(empty, 'text=No steps yet');
  // the server sends the newest 100 steps, and earlier ones on request
  const thousand = await paint({ ...longTrace(100), hasEarlier: true }, '.trace-row');
  expect(thousand).toBeLessThan(none * 3);
  await page.context().close();
});
