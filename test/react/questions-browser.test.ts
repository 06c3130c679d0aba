import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { seriousFindings } from '../setup/axe.ts';
import { inBrowser, looks, shots, stillness } from '../setup/page.ts';
import { questionSamples } from '../setup/question-samples.ts';
import type { Wire } from './fake-source.ts';

// a browser without a GPU is slow on a busy machine
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const { browser, html } = inBrowser('test/react/browser-page.tsx', 'src/react/styles.css');

it.each(looks)(
  'questions of tools fit the page and are answered, %s, %i px',
  async (theme, width) => {
    const context = await browser().newContext({
      viewport: { width, height: 844 },
      colorScheme: theme,
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.setContent(html());
    await page.waitForFunction(() => 'stage' in window && document.querySelector('.onward-chat'));
    await page.evaluate((text) => {
      const samples = JSON.parse(text) as Parameters<Wire['question']>[0][];
      const { wire, bring } = window.stage;
      bring(
        wire.started(),
        wire.user('Book a table for Friday.'),
        wire.step(1),
        ...samples.flatMap((asked) => [
          wire.tool(asked.tool, asked.tool_call_id, {}),
          wire.question(asked),
        ]),
        wire.ends('paused', { stop_message: 'Waiting because 3 questions need answers.' }),
      );
    }, JSON.stringify(questionSamples));
    const forms = page.locator('[data-onward="input-request"]');
    await forms.nth(2).waitFor();
    expect(await forms.count()).toBe(3);
    const look = async (name: string): Promise<void> => {
      await stillness(page);
      if (shots !== undefined)
        await page.screenshot({ path: join(shots, `questions-${theme}-${width}-${name}.png`) });
      expect(await seriousFindings(page), name).toEqual([]);
      const wide = await page.evaluate(() => {
        const outer = [
          document.documentElement,
          ...document.querySelectorAll('.onward-conversation'),
        ];
        const forms = document.querySelectorAll('[data-onward="input-request"]');
        return [
          ...outer.map((one) => one.scrollWidth - one.clientWidth),
          ...[...forms].flatMap((form) =>
            [...form.querySelectorAll('*')].map((one) =>
              Math.max(
                one.getBoundingClientRect().right - form.getBoundingClientRect().right,
                // a text field scrolls
                one.matches('input, textarea, select, .onward-input-address')
                  ? 0
                  : one.scrollWidth - one.clientWidth - (one.clientWidth === 0 ? Infinity : 0),
              ),
            ),
          ),
        ].filter((over) => over > 1);
      });
      expect(wide, `${name}: nothing is wider than its place`).toEqual([]);
    };
    await forms.first().scrollIntoViewIfNeeded();
    await look('form');
    await forms.first().getByRole('button', { name: 'Send' }).click();
    await forms.first().getByRole('alert').first().waitFor();
    await look('invalid');
    await forms.nth(1).scrollIntoViewIfNeeded();
    await look('address');
    await forms.nth(2).scrollIntoViewIfNeeded();
    await look('json');
    await forms
      .first()
      .getByLabel(/^Guests/)
      .fill('4');
    await forms.first().getByRole('button', { name: 'Send' }).click();
    expect(await page.evaluate(() => window.stage.asked.at(-1)?.slice(0, 3))).toEqual([
      'answer',
      'q1/table',
      { action: 'accept', content: { guests: 4 } },
    ]);
    expect(errors).toEqual([]);
    await context.close();
  },
);
