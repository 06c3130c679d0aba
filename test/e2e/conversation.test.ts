import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchBrowser } from '../setup/browser.ts';
import {
  begin,
  conversation,
  openTab,
  send,
  sessionIdOf,
  status,
  type Tab,
} from './console-page.ts';
import { api, discard, startDev, type DevProcess } from './dev-process.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

let browser: Browser;
let dev: DevProcess;
let tab: Tab;
beforeAll(async () => {
  [browser, dev] = await Promise.all([launchBrowser(), startDev()]);
  tab = await openTab(browser, dev);
});
afterAll(async () => {
  await browser?.close();
  await discard(dev);
});

describe('a whole conversation in the console, on the demo agent', () => {
  it('says plainly that a demo model answers, and takes the token out of the address', async () => {
    const { page } = tab;
    await page.getByText('No API key found, so the demo model answers').waitFor();
    expect(page.url()).not.toContain(dev.token);
  });

  it('answers with tools; one that fails is tried again and shows as one row', async () => {
    const { page } = tab;
    await page
      .getByRole('button', { name: 'Add a lead for Helvetia Robotics with the company data' })
      .click();
    await page.waitForURL(/#\/s\//);
    await page.getByText('retried 1/3').waitFor();
    await page.getByText('First try failed').waitFor();
    await status(page, 'Completed');
    await page
      .getByRole('log')
      .getByText(/Added lead_\d+ Helvetia Robotics AG to Nordlicht/)
      .waitFor();
    expect(await conversation(page), 'no raw tool JSON').not.toMatch(/\{"/);
  });

  it('continues the conversation', async () => {
    const { page } = tab;
    await send(page, 'yes');
    await page.getByRole('heading', { name: 'Delete lead_2207?' }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('approved by you').waitFor();
    await status(page, 'Completed');
  });

  it('asks before it deletes: one approved as changed, one denied with a reason, one approved', async () => {
    const { page } = tab;
    await begin(page, 'Clean up inactive Alpine leads');
    await status(page, 'Needs approval');
    const card = (name: string) => page.getByRole('region', { name: `Delete ${name}?` });
    await card('lead_1921').getByRole('button', { name: 'Edit arguments' }).click();
    await card('lead_1921').getByLabel('notify_owner').selectOption('false');
    await page.getByText('1 change: notify_owner true → false').waitFor();
    await page.getByRole('button', { name: 'Approve with changes' }).click();
    await card('lead_1874').getByRole('button', { name: 'Deny…' }).click();
    await card('lead_1874').getByRole('textbox').fill('still in negotiation');
    await card('lead_1874').getByRole('button', { name: /^Deny/ }).last().click();
    await card('lead_1902').getByRole('button', { name: 'Approve' }).click();
    await status(page, 'Completed');
    await page.getByText(/denied: still in negotiation/).waitFor();

    const results = await resultsOf(sessionIdOf(page));
    expect(results).toEqual({ lead_1921: 'ok', lead_1874: 'denied', lead_1902: 'ok' });
  });

  it('stops at its limit, says why, and the button grants exactly what is missing', async () => {
    const { page } = tab;
    await begin(page, 'Enrich every lead of the Baltic program');
    await status(page, 'Stopped · steps limit');
    const banner = page.getByRole('region', { name: 'Why it stopped' });
    await banner.getByText(/Stopped because it used 6 of 6 steps/).waitFor();
    await banner.getByText(/To continue, add 6 steps/).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('log').click();
    await page.keyboard.press('g');
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.textContent))
      .toContain('Continue with 6 more steps');
    await page.keyboard.press('Enter');
    await page.getByText(/Granted 6 steps · you/).waitFor();
    await status(page, 'Completed');
    await page
      .getByText(/12 of 12|All 12|12 leads/)
      .last()
      .waitFor();
  });

  it('shows all checks of every step, by keyboard only', async () => {
    const { page } = tab;
    await page.keyboard.press('t');
    await page.waitForURL(/\/trace/);
    const step = (n: number) => page.getByRole('button', { name: new RegExp(`^Step ${n} \\d`) });
    await step(6).click();
    await page.getByText('one is enough to stop it').waitFor();
    await page.getByText('6 of 6 steps used while work is still pending').waitFor();
    await page.keyboard.press('k');
    await page.waitForURL(/\/trace\/5/);
    await page.getByText(/Continued because/).waitFor();
    await page.keyboard.press('c');
    await page.waitForURL(/#\/s\/[^/]+$/);
  });

  it('a failed run shows the deciding check and the remedy', async () => {
    const { page } = tab;
    await begin(page, 'Import the leads from Atlantis');
    await page.getByRole('region', { name: 'Why it stopped' }).waitFor();
    await page
      .getByText(/decided by/)
      .last()
      .waitFor();
  });

  it('finds sessions by what was said in them', async () => {
    const { page } = tab;
    await page.keyboard.press('Escape');
    await page.getByRole('log').click();
    await page.keyboard.press('/');
    await page.keyboard.type('still in negotiation');
    const list = page.getByRole('navigation', { name: 'Sessions' });
    await expect.poll(() => list.getByRole('link', { name: /Alpine/ }).count()).toBe(1);
    await expect.poll(() => list.getByRole('link', { name: /Baltic/ }).count()).toBe(0);
    await page.keyboard.press('Escape');
  });

  it('not one error in the browser’s console', () => {
    expect(tab.errors).toEqual([]);
  });
});

/** What became of each delete_lead, by the lead it was about. */
async function resultsOf(sessionId: string): Promise<Record<string, string>> {
  const response = await api(dev, `/sessions/${sessionId}/trace`);
  const trace = (await response.json()) as {
    steps: { bars: { name: string; callId: string; state: string }[] }[];
  };
  const messages = (await (await api(dev, `/sessions/${sessionId}/messages`)).json()) as {
    messages: { metadata: { tool_calls?: { id: string; args: { id?: string } }[] } }[];
  };
  const leadOf = new Map(
    messages.messages
      .flatMap(({ metadata }) => metadata.tool_calls ?? [])
      .map(({ id, args }) => [id, args.id ?? '']),
  );
  return Object.fromEntries(
    trace.steps
      .flatMap(({ bars }) => bars)
      .filter(({ name }) => name === 'delete_lead')
      .map(({ callId, state }) => [leadOf.get(callId) ?? callId, state]),
  );
}
