import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startExample } from '../server/node-example.ts';
import { launchBrowser } from '../setup/browser.ts';
import { pusherServer } from '../setup/pusher-server.ts';
import { until } from '../setup/sessions.ts';
import { holdsChat, keepsOut, openTab, say, sessionIdOf } from './chat-page.ts';
import { jiti } from './run.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

const args = [jiti, 'examples/chat-reverb/server.ts'];

describe('the chat example on Laravel Reverb', () => {
  it('works like the other chat, with live updates over the Pusher protocol', async () => {
    const reverb = await pusherServer();
    const example = await startExample({
      args,
      env: {
        ...process.env,
        REVERB_APP_ID: reverb.app.appId,
        REVERB_APP_KEY: reverb.app.key,
        REVERB_APP_SECRET: reverb.app.secret,
        REVERB_HOST: reverb.host,
        REVERB_PORT: String(reverb.port),
      },
    });
    const asked: string[] = [];
    const tab = await openTab(browser, example.url);
    tab.page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await holdsChat(tab);
    const id = sessionIdOf(tab.page);
    await keepsOut(browser, example.url, id);
    expect(asked).toContain('/api/pusher/auth');
    expect(asked.filter((path) => path.endsWith('/events'))).toEqual([]);
    await until(() => reverb.channels.size(`private-agent.${id}`) === 1);
    expect(reverb.requests.every(({ status }) => status === 200)).toBe(true);

    // while Reverb is down the run continues, and a reload shows what was missed
    await reverb.close();
    await tab.page.getByText('Not connected.').waitFor();
    const taken = tab.page.waitForResponse((response) => response.url().endsWith('/messages'));
    await say(tab.page, 'Where is A-1002?');
    await taken; // a reload would lose an unsent message
    await until(async () => {
      await tab.page.reload();
      const answer = tab.page.getByText('a chair for 240 euros').first();
      return answer.waitFor({ timeout: 5_000 }).then(
        () => true,
        () => false,
      );
    });
    expect(await example.stop()).toBe(0);
  });

  it('names the missing setting', async () => {
    const bare = { ...process.env, REVERB_APP_ID: '' };
    await expect(startExample({ args, env: bare })).rejects.toThrow('REVERB_APP_ID is not set');
  });
});
