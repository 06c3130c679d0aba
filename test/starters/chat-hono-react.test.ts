import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { holdsConversation, startExample } from '../server/node-example.ts';
import type { SessionDetail } from '../../src/server/api.ts';
import { launchBrowser } from '../setup/browser.ts';
import { holdsChat, keepsOut, openTab, sessionIdOf } from './chat-page.ts';
import { jiti } from './run.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

describe('the chat example with Hono and React', () => {
  it('works in a browser and has an API for programs', async () => {
    const example = await startExample({ args: [jiti, 'examples/chat-hono-react/server.ts'] });
    const { url } = example;
    const tab = await openTab(browser, url);
    await holdsChat(tab);
    await keepsOut(browser, url, sessionIdOf(tab.page));
    // the browser itself logs the wrong password
    expect(tab.errors.filter((text) => !text.includes('401'))).toEqual([]);

    const tokenOf = async (name: string, password: string) => {
      const response = await fetch(`${url}/sign-in`, {
        method: 'POST',
        body: JSON.stringify({ name, password }),
      });
      const { token } = (await response.json()) as { token: string };
      return { authorization: `Bearer ${token}` };
    };
    const client = await holdsConversation({
      url,
      headers: await tokenOf('ada', 'lovelace'),
      others: await tokenOf('ben', 'franklin'),
      message: 'I want my money back for A-1002',
      tool: 'refund',
      answer: 'Done: 240 euros for A-1002 are on their way.',
    });
    const headers = {
      ...(await tokenOf('ada', 'lovelace')),
      'content-type': 'application/json',
    };
    const ask = async (path: string, body?: unknown) => {
      const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const response = await fetch(`${url}/api/sessions${path}`, { headers, ...post });
      return (await response.json()) as SessionDetail;
    };
    const settled = async ({ id }: SessionDetail) => {
      const at = `/${id}`;
      await expect.poll(async () => (await ask(at)).status).not.toBe('processing');
      return ask(at);
    };
    const asked = await settled(await ask('', { message: 'Bring A-1002 another day' }));
    const [question] = asked.pendingInputs;
    expect(question?.message).toBe('When may we bring A-1002?');
    const answer = { action: 'accept', content: { day: 'Friday' } };
    await ask(`/${asked.id}/inputs`, { inputId: question?.inputId, ...answer });
    expect(await settled(asked)).toMatchObject({
      status: 'completed',
      output: 'Fine: A-1002 comes on Friday.',
    });
    const card = await settled(await ask('', { message: 'My card is 4111 1111 1111 1111' }));
    expect(card).toMatchObject({ status: 'stopped', stopReason: 'guard' });
    client.follow();
    // with a page and a stream open
    expect(await example.stop()).toBe(0);
  });
});
