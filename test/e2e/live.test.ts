import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchBrowser } from '../setup/browser.ts';
import { begin, conversation, openTab, sessionIdOf, status } from './console-page.ts';
import { api, discard, startDev, type DevProcess } from './dev-process.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

let browser: Browser;
let dev: DevProcess;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());
afterEach(() => discard(dev));

/** Returns the stored answers of a session. */
async function texts(sessionId: string): Promise<readonly string[]> {
  const response = await api(dev, `/sessions/${sessionId}/messages`);
  const { messages } = (await response.json()) as {
    messages: { role: string; content: string }[];
  };
  return messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
}

describe('the console during a run', () => {
  it('shows every line once after reloads', async () => {
    dev = await startDev();
    const { page, errors } = await openTab(browser, dev);
    await begin(page, 'Which programs renew this quarter?');
    const sessionId = sessionIdOf(page);
    // during the first text and during a tool
    for (const moment of [/Demo model/, /search_programs/]) {
      await page.getByText(moment).first().waitFor();
      await page.reload();
    }
    await status(page, 'Completed');
    const lines = (await texts(sessionId)).flatMap((text) =>
      text
        .split('\n')
        .filter((line) => /^[A-Z(]/.test(line))
        .map((line) => line.replaceAll(/[*`]/g, '').replaceAll(/\s+/g, ' ').trim()),
    );
    const timesShown = async () => {
      const shown = (await conversation(page)).replaceAll(/\s+/g, ' ');
      return lines.map((line) => [line, shown.split(line).length - 1]);
    };
    await expect.poll(timesShown).toEqual(lines.map((line) => [line, 1]));
    expect(errors).toEqual([]);
  });

  it('shows the same in two tabs that answer the same approvals', async () => {
    dev = await startDev();
    const one = await openTab(browser, dev);
    await begin(one.page, 'Clean up inactive Alpine leads');
    const sessionId = sessionIdOf(one.page);
    const two = await openTab(browser, dev, { path: `#/s/${sessionId}` });
    await status(two.page, 'Needs approval');
    await one.page.getByRole('button', { name: 'Review one by one' }).click();
    await one.page.getByRole('button', { name: 'Approve', exact: true }).first().click();
    await expect
      .poll(() => two.page.getByRole('button', { name: 'Approve', exact: true }).count())
      .toBe(2);
    await two.page.getByRole('button', { name: 'Approve', exact: true }).first().click();
    // the cards move when the other tab answers, also during a click
    const open = one.page.getByRole('button', { name: 'Approve', exact: true });
    const answerAll = async () => {
      if ((await open.count()) > 0)
        await open
          .last()
          .click({ timeout: 5_000 })
          .catch(() => {});
      return open.count();
    };
    await expect.poll(answerAll).toBe(0);
    for (const { page } of [one, two]) await status(page, 'Completed');
    const differences = async () => {
      const [first, second] = [await conversation(one.page), await conversation(two.page)];
      return first === second ? [] : [first, second];
    };
    await expect.poll(differences).toEqual([]);
    // the browser logs 409 for a call that the other tab has answered
    const isLate = (text: string): boolean => text.includes('409 (Conflict)');
    expect([...one.errors, ...two.errors].filter((text) => !isLate(text))).toEqual([]);
  });

  it('D18: continues after a crash of the server without running a tool twice', async () => {
    dev = await startDev();
    const { page, errors } = await openTab(browser, dev);
    await begin(page, 'Enrich every lead of the Baltic program');
    const sessionId = sessionIdOf(page);
    await page.getByRole('log').getByText('2 of 12 looked up').waitFor();
    await dev.kill();
    await page
      .getByText(/Connection lost|does not respond/)
      .first()
      .waitFor();
    dev = await startDev({ folder: dev.folder, port: dev.port });
    await status(page, 'Stopped · step limit');
    const response = await api(dev, `/sessions/${sessionId}/trace`);
    const { steps } = (await response.json()) as {
      steps: { number: number; bars: { callId: string | null; state: string }[] }[];
    };
    expect(steps.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6]);
    const calls = steps.flatMap(({ bars }) => bars.flatMap(({ callId }) => callId ?? []));
    expect(new Set(calls).size).toBe(calls.length);
    // the browser logs requests without a server
    expect(errors.filter((text) => !/ERR_|Failed to load resource|net::/.test(text))).toEqual([]);
  });

  it('continues after Ctrl-C and a restart of the server', async () => {
    dev = await startDev();
    const { page } = await openTab(browser, dev);
    await begin(page, 'Enrich every lead of the Baltic program');
    await page.getByRole('log').getByText('2 of 12 looked up').waitFor();
    expect(await dev.stop()).toBe(0);
    dev = await startDev({ folder: dev.folder, port: dev.port });
    await status(page, 'Stopped · step limit');
  });
});
