import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { seriousFindings } from '../setup/axe.ts';
import { drawn, inBrowser, looks, shots, stillness } from '../setup/page.ts';
import type { SceneName } from './chat-scenes.ts';
import { consoleStyles } from './console-styles.ts';

// a browser without a GPU is slow on a busy machine
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const { browser, html } = inBrowser('test/console/chat-page.tsx', ...consoleStyles);

const names: readonly SceneName[] = [
  'stopped',
  'approval',
  'approvals',
  'questions',
  'live',
  'working',
  'failed',
  'completed',
  'long',
  'hostile',
];

describe.each(looks)('the chat in a browser, %s, %i px', (theme, width) => {
  let page: Page;
  const errors: string[] = [];
  beforeAll(async () => {
    page = await browser().newPage({
      viewport: { width, height: width > 600 ? 860 : 844 },
      reducedMotion: 'reduce',
    });
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (line) => line.type() === 'error' && errors.push(line.text()));
    page.on('dialog', (dialog) => errors.push(`dialog: ${dialog.message()}`));
    await page.clock.install({ time: new Date('2026-01-16T14:20:00') });
    await page.setContent(html());
    await page.evaluate((name) => (document.documentElement.dataset['theme'] = name), theme);
  });
  afterAll(() => page?.close());

  const show = async (scene: SceneName): Promise<void> => {
    await page.evaluate((name) => window.show(name), scene);
    await page.waitForSelector('.turn');
  };
  const shoot = async (name: string): Promise<void> => {
    if (shots === undefined) return;
    await page.screenshot({ path: join(shots, `${name}-${theme}-${width}.png`) });
  };
  const check = async (name: string): Promise<void> => {
    await shoot(name);
    expect(await seriousFindings(page)).toEqual([]);
    const sideways = await page.evaluate(() => {
      const log = document.querySelector('.chat-log')!;
      return [log.scrollWidth - log.clientWidth, document.documentElement.scrollWidth - innerWidth];
    });
    expect(sideways).toEqual([0, 0]);
  };

  it.each(names)('has no horizontal overflow and no serious axe finding: %s', async (name) => {
    await show(name);
    await check(name);
    if (name === 'hostile') {
      expect(await page.evaluate(() => window.hacked)).toBeUndefined();
      expect(await page.$$eval('.md :is(script, img, iframe)', (all) => all.length)).toBe(0);
      const links = await page.$$eval('.md a', (all) =>
        all.map((link) => link.getAttribute('href')),
      );
      expect(links).toEqual(['https://tracker.example/p.gif']);
      for (const summary of await page.$$('.call:not([open]) > summary')) await summary.click();
      await shoot('hostile-open');
    }
    if (name === 'long') {
      await page.click('.earlier');
      await shoot('long-open');
    }
    if (name === 'questions') {
      const forms = page.locator('.onward-input-request');
      expect(await forms.count()).toBe(3);
      // every problem of an empty form is shown
      await forms.first().getByRole('button', { name: 'Submit' }).click();
      await forms.first().getByRole('alert').first().waitFor();
      await page.mouse.move(0, 0);
      await stillness(page);
      await check('questions-invalid');
      for (const form of await forms.all()) {
        await form.scrollIntoViewIfNeeded();
        const over = await form.evaluate((node) =>
          [node, ...node.querySelectorAll('*')].flatMap((one) => {
            const outer = node.getBoundingClientRect();
            const { right } = one.getBoundingClientRect();
            return right > outer.right + 1 ? [`${one.className}: ${one.textContent}`] : [];
          }),
        );
        expect(over).toEqual([]);
      }
      await check('questions-below');
    }
    if (name === 'approval' || name === 'approvals') {
      await page.click('[data-key="edit"], .onward-approval-edit > button');
      const field = page.locator('.onward-field select').first();
      await field.selectOption('false');
      await check(`${name}-edit`);
      await page.keyboard.press('Escape');
      expect(await page.$('.onward-editor')).toBeNull();
      if (name === 'approval')
        await page.waitForFunction(
          () => document.activeElement?.getAttribute('data-key') === 'edit',
        );
      await page.fill('[data-key="deny"]', 'still in negotiation');
      await check(`${name}-deny`);
    }
    expect(errors).toEqual([]);
  });

  it('follows the end unless the user has scrolled up, and then shows a button', async () => {
    // another scene first, so that opened elements are closed again
    await show('live');
    await show('hostile');
    const place = (): Promise<number> =>
      page.$eval('.chat-log', (log) => log.scrollHeight - log.scrollTop - log.clientHeight);
    await expect.poll(place).toBeLessThan(2);
    await page.evaluate(() => window.grow('hostile', 'One more.'));
    await expect.poll(place).toBeLessThan(2);
    await page.$eval('.chat-log', (log) => (log.scrollTop = 0));
    await drawn(page);
    await page.evaluate(() => window.grow('hostile', 'Two more.\n\nAnd three.'));
    expect(await page.$eval('.chat-log', (log) => log.scrollTop)).toBe(0);
    await check('new-below');
    await page.click('.new-below');
    await expect.poll(place).toBeLessThan(2);
    await page.waitForSelector('.new-below', { state: 'detached' });
  });

  it('shows the first of several approvals, and no button for those below it', async () => {
    await show('live');
    await show('approvals');
    const top = (): Promise<number> =>
      page.$eval(
        '.onward-approval',
        (card) =>
          card.getBoundingClientRect().top -
          document.querySelector('.chat-log')!.getBoundingClientRect().top,
      );
    expect(await top()).toBeGreaterThanOrEqual(0);
    await page.evaluate(() => window.grow('approvals', 'One more.'));
    expect(await page.$('.new-below')).toBeNull();
    await page.$eval('.chat-log', (log) => (log.scrollTop = 0));
    await drawn(page);
    await page.evaluate(() => window.grow('approvals', 'Two more.'));
    // the button appears if the approval is out of view
    const isOut = await page.$eval('.chat-log', (log) => {
      const card = document.querySelector('.onward-approval')!.getBoundingClientRect();
      return card.top > log.getBoundingClientRect().bottom;
    });
    if (isOut) await page.waitForSelector('.new-below');
  });

  it.skipIf(width > 390)('has controls that are large enough for touch', async () => {
    await show('approval');
    const heights = await page.$$eval('.onward-approval button, .onward-composer button', (all) =>
      all.map((button) => button.getBoundingClientRect().height),
    );
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(40);
    await show('questions');
    const controls = await page.$$eval(
      '.onward-input-request :is(button, input:not([type=checkbox], [type=radio]), select)',
      (all) => all.map((control) => control.getBoundingClientRect().height),
    );
    expect(controls.length).toBeGreaterThan(6);
    expect(Math.min(...controls)).toBeGreaterThanOrEqual(32);
  });
});
