import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchBrowser } from '../setup/browser.ts';
import { begin, openTab, sessionIdOf, status } from './console-page.ts';
import { api, discard, startDev, type DevProcess } from './dev-process.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const secret = 'sk-live-4f9a2b7c8d1e6f3a5b9c0d2e';
const bens = 'token-of-ben-0123456789abcdef';

/** An agent with markup and secrets in all names, texts and results. */
const config = `
import { AgentBuilder, defineTool, ErrorPolicy } from 'onward';
import { defineConfig } from 'onward/config';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';

const evil = '<img src=x onerror="window.pwned=1"><script>window.pwned=2</' + 'script>' +
  '[link](javascript:window.pwned=3) <svg onload="window.pwned=4">';
const page = defineTool({
  name: 'page',
  description: 'Returns a page.',
  parameters: { type: 'object', properties: { url: { type: 'string' } } },
  execute: () => ({ html: evil, apiKey: '${secret}', text: 'Authorization: Bearer ${secret}' }),
});
const drop = defineTool({
  name: 'drop',
  description: 'Needs approval.',
  parameters: { type: 'object', properties: { name: { type: 'string' } } },
  needsApproval: true,
  execute: () => evil,
});
const fail = defineTool({
  name: 'fail',
  description: evil,
  parameters: { type: 'object' },
  execute: () => { throw new Error(evil + ' ${secret}'); },
});
const answers = (request) => {
  const last = request.messages.at(-1);
  if (last.isUser())
    return ScenarioStep.toolCalls(
      // an unknown tool, one that fails, and one that returns
      [{ name: evil, args: { [evil]: evil } }, { name: 'fail', args: {} }, { name: 'page', args: { url: evil } }],
      evil,
    );
  return last.text.includes('html')
    ? ScenarioStep.toolCall('drop', { name: evil })
    : ScenarioStep.final(evil + ' done');
};
const model = {
  name: 'evil',
  infer: (request, options) => DeterministicDriver.fromSteps(answers(request)).infer(request, options),
  stream: (request, options) => DeterministicDriver.fromSteps(answers(request)).stream(request, options),
};
export default defineConfig({
  name: evil,
  agents: [{ agent: AgentBuilder.base().withName('evil').withModel(model).withTools(page, drop, fail).withErrorPolicy(ErrorPolicy.retryToolErrors(5)).build(), title: evil, description: evil, suggestions: [evil] }],
  tokens: { '${bens}': 'ben' },
});
`;

let browser: Browser;
let dev: DevProcess;
beforeAll(async () => {
  [browser, dev] = await Promise.all([launchBrowser(), startDev({ config })]);
});
afterAll(async () => {
  await browser?.close();
  await discard(dev);
});

/** Opens all collapsed elements. */
const unfold = (page: Page): Promise<void> =>
  page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true;
  });

describe('the safety of the console', () => {
  it('executes no markup of a model, a tool, a user or a config', async () => {
    const { page, errors } = await openTab(browser, dev);
    await begin(page, '<img src=x onerror="window.pwned=5"> hello');
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await status(page, 'Completed');
    await unfold(page);
    await page.keyboard.press('Escape');
    await page.getByRole('log').click();
    await page.keyboard.press('t');
    await page.waitForURL(/\/trace/);
    await page.waitForTimeout(300);
    const pwned = await page.evaluate(() => (window as { pwned?: number }).pwned);
    expect(pwned).toBeUndefined();
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    expect(await page.locator('main img[src="x"], main script').count()).toBe(0);
    expect(errors, 'the content security policy refuses nothing').toEqual([]);
  });

  it('D43: shows the secret on no page and in no response', async () => {
    const { page } = await openTab(browser, dev);
    await begin(page, 'hello');
    const sessionId = sessionIdOf(page);
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    await unfold(page);
    expect(await page.content()).not.toContain(secret);
    for (const path of ['', '/messages', '/log', '/trace']) {
      const response = await api(dev, `/sessions/${sessionId}${path}`);
      expect(response.status, path).toBe(200);
      expect(await response.text(), path).not.toContain(secret);
    }
  });

  it('shows no session to another owner', async () => {
    const ann = await openTab(browser, dev);
    await begin(ann.page, 'a private matter');
    const sessionId = sessionIdOf(ann.page);
    const ben = await openTab(browser, { url: dev.url, token: bens }, { path: `#/s/${sessionId}` });
    await ben.page.getByRole('heading', { level: 2, name: 'Session not found' }).waitFor();
    const list = ben.page.getByRole('navigation', { name: 'Sessions' });
    expect(await list.getByRole('listitem').count()).toBe(0);
    const foreign = await api(dev, `/sessions/${sessionId}`, { token: bens });
    const missing = await api(dev, '/sessions/00000000-0000-4000-8000-000000000000', {
      token: bens,
    });
    expect([foreign.status, missing.status]).toEqual([404, 404]);
  });

  it('asks for a token if it is missing or wrong, and shows nothing', async () => {
    for (const hash of ['', '#token=wrong-token-0123456789']) {
      const page = await (await browser.newContext()).newPage();
      await page.goto(`${dev.url}/${hash}`);
      await page.getByLabel('Token or address').waitFor();
      expect(await page.getByRole('listitem').count()).toBe(0);
      expect(page.url(), 'the URL does not contain it').not.toContain('wrong-token');
    }
    for (const token of ['', 'wrong', `${dev.token}x`])
      expect((await api(dev, '/sessions', { token })).status).toBe(401);
  });

  it('refuses requests of another site', async () => {
    const body = { message: 'hello' };
    const cross = await fetch(`${dev.url}/api/sessions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${dev.token}`,
        'content-type': 'application/json',
        origin: 'https://evil.example',
        'sec-fetch-site': 'cross-site',
      },
      body: JSON.stringify(body),
    });
    expect(cross.status).toBe(403);
    const form = await fetch(`${dev.url}/api/sessions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${dev.token}`, 'content-type': 'text/plain' },
      body: JSON.stringify(body),
    });
    expect(form.status).toBe(415);
  });
});
