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

describe('a conversation with the demo agent in the console', () => {
  it('names the demo model, and removes the token from the URL', async () => {
    const { page } = tab;
    await page.getByText('No API key found, so the demo model answers').waitFor();
    expect(page.url()).not.toContain(dev.token);
  });

  it('answers with tools, and shows a retried call after the failed one', async () => {
    const { page } = tab;
    await page
      .getByRole('button', { name: 'Add a lead for Helvetia Robotics with the company data' })
      .click();
    await page.waitForURL(/#\/s\//);
    await page.getByText(/^retry 1 of 3/).waitFor();
    await page.locator('.call[data-kind="failed"], .call[data-kind="timeout"]').first().waitFor();
    await status(page, 'Completed');
    await page
      .getByRole('log')
      .getByText(/Added lead_\d+ Helvetia Robotics AG to Nordlicht/)
      .waitFor();
    expect(await conversation(page), 'no raw tool JSON').not.toMatch(/\{"/);
  });

  it('continues with a second message and an approval', async () => {
    const { page } = tab;
    await send(page, 'yes');
    await page.getByRole('heading', { name: 'Delete lead_2207?' }).waitFor();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('approved by you').waitFor();
    await status(page, 'Completed');
  });

  it('requests approvals: one approved with changes, one denied with a reason, one approved', async () => {
    const { page } = tab;
    await begin(page, 'Clean up inactive Alpine leads');
    await status(page, 'Needs approval');
    await page.getByRole('region', { name: /^Allow 3 .* calls\?$/ }).waitFor();
    await page.getByRole('button', { name: 'Review one by one' }).click();
    const card = (name: string) => page.getByRole('region', { name: `Delete ${name}?` });
    await card('lead_1921').getByRole('button', { name: 'Edit arguments' }).click();
    await card('lead_1921').getByLabel('notify_owner').selectOption('false');
    await page.getByText('1 change: notify_owner true → false').waitFor();
    // cards move when an answered one leaves, also during a click, so the next click waits for that
    const leaves = (name: string) => card(name).waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Approve with changes' }).click();
    await leaves('lead_1921');
    await card('lead_1874').getByRole('textbox').fill('still in negotiation');
    await card('lead_1874').getByRole('button', { name: 'Deny' }).click();
    await leaves('lead_1874');
    await card('lead_1902').getByRole('button', { name: 'Approve', exact: true }).click();
    await status(page, 'Completed');
    await page.getByText(/Denied by a person: still in negotiation/).waitFor();

    const results = await resultsOf(sessionIdOf(page));
    expect(results).toEqual({ lead_1921: 'ok', lead_1874: 'denied', lead_1902: 'ok' });
  });

  it('stops at its limit with a reason, and the button grants exactly the needed steps', async () => {
    const { page } = tab;
    await begin(page, 'Enrich every lead of the Baltic program');
    await status(page, 'Stopped · step limit');
    const banner = page.getByRole('region', { name: 'Why it stopped' });
    await banner.getByText(/Stopped because it used 6 of 6 steps/).waitFor();
    await banner.getByText(/To continue, add 6 steps/).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('log').click();
    await page.keyboard.press('g');
    await page.keyboard.press('g');
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.textContent))
      .toContain('Continue with 6 more steps');
    await page.keyboard.press('Enter');
    await page.getByText(/You allowed 6 more steps/).waitFor();
    await status(page, 'Completed');
    await page
      .getByText(/12 of 12|All 12|12 leads/)
      .last()
      .waitFor();
  });

  it('shows all checks of a step, with keyboard navigation', async () => {
    const { page } = tab;
    await page.keyboard.press('t');
    await page.waitForURL(/\/trace/);
    const step = (n: number) => page.getByRole('button', { name: new RegExp(`^Step ${n} \\d`) });
    await step(6).click();
    const how = page.getByText('How decisions work').locator('visible=true').first();
    await how.click();
    await page.getByText('one is enough').locator('visible=true').first().waitFor();
    await page.getByText(/used (?:all 6|6 of 6) steps/).locator('visible=true').first().waitFor();
    await page.keyboard.press('k');
    await page.waitForURL(/\/trace\/5/);
    await page.getByText(/Why it continued/).waitFor();
    await page.keyboard.press('c');
    await page.waitForURL(/#\/s\/[^/]+$/);
  });

  it('explains a failed run, and leads to the deciding check', async () => {
    const { page } = tab;
    await begin(page, 'Import the leads from Atlantis');
    const banner = page.getByRole('region', { name: 'Why it stopped' });
    await banner.getByText('Why it failed').waitFor();
    await banner.getByRole('button', { name: 'View decision' }).waitFor();
  });

  it('finds sessions by the text of their messages', async () => {
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

  it('causes no error in the browser console', () => {
    expect(tab.errors).toEqual([]);
  });
});

/** Returns the result of each delete_lead call by lead. */
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
