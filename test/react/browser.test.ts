import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { seriousFindings } from '../setup/axe.ts';
import { inBrowser, looks, shots, stillness } from '../setup/page.ts';

// a browser without a GPU is slow on a busy machine
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const { browser, html } = inBrowser('test/react/browser-page.tsx', 'src/react/styles.css');

describe.each(looks)('AgentChat in a browser, %s, %i px', (theme, width) => {
  let page: Page;
  const errors: string[] = [];
  let count = 0;

  beforeAll(async () => {
    const context = await browser().newContext({
      viewport: { width, height: width > 600 ? 860 : 844 },
      colorScheme: theme,
      deviceScaleFactor: process.env['ONWARD_SHOTS'] === undefined ? 1 : 2,
    });
    page = await context.newPage();
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    await page.setContent(html());
    await page.waitForFunction(
      () => 'stage' in window && document.querySelector('.onward-chat') !== null,
    );
  });
  afterAll(() => page?.context().close());

  /** Takes a screenshot and checks axe and the width of the page. */
  async function look(name: string): Promise<void> {
    await stillness(page);
    if (shots !== undefined)
      await page.screenshot({ path: join(shots, `${theme}-${width}-${++count}-${name}.png`) });
    expect(await seriousFindings(page), name).toEqual([]);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - window.innerWidth,
    );
    expect(overflow, `${name}: no horizontal overflow`).toBeLessThanOrEqual(0);
  }

  it('starts empty', async () => {
    await page.getByText('No messages yet.').waitFor();
    await look('empty');
  });

  it('streams an answer with a caret at its end and follows it', async () => {
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.fill(
      'Find the Nordlicht programs, add a lead for Helvetia Robotics with the company data filled in, and remove the old duplicate.',
    );
    await box.press('Enter');
    await page.evaluate(() => {
      const { wire, bring } = window.stage;
      bring(
        wire.started(),
        wire.user(
          'Find the Nordlicht programs, add a lead for Helvetia Robotics with the company data filled in, and remove the old duplicate.',
        ),
        wire.step(1),
      );
      for (const [i, word] of 'I’ll look up the program and the existing leads first.'
        .split(/(?<= )/)
        .entries())
        bring(wire.chunk(word, i, 1, 'msg_1'));
    });
    await page.getByText('existing leads first.').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    const animation = (): Promise<string> =>
      page.evaluate(
        () => getComputedStyle(document.querySelector('[data-glyph="working"]')!).animationName,
      );
    expect(await animation()).toBe('onward-turn');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await animation()).toBe('none');
    await page.emulateMedia({ reducedMotion: null });
    await look('streaming');
  });

  it('shows tools: one done, one failed and open, one truncated, one running', async () => {
    await page.evaluate(() => {
      const { wire, bring } = window.stage;
      bring(
        wire.says('I’ll look up the program and the existing leads first.', 'msg_1'),
        wire.tool('search_entities', 'c1', {
          type: 'program',
          query: 'Nordlicht',
          filter: { active: true },
        }),
        wire.tool('search_entities', 'c2', { type: 'lead', query: 'Helvetia Robotic' }),
        wire.tool('enrich_company', 'c3', { domain: 'helvetia-robotics.ch' }),
        wire.tool('export_everything_with_a_rather_long_name', 'c4', { format: 'json' }),
        wire.toolDone(
          'search_entities',
          'c1',
          '{"results":[{"id":"prg_118","name":"Nordlicht Growth"},{"id":"prg_121","name":"Nordlicht Start"}]}',
        ),
        wire.toolDone(
          'enrich_company',
          'c3',
          'timeout',
          'timeout: no answer from enrich_company within 5 s. The model sees this as the call’s result and may try again.',
        ),
        wire.toolDone('export_everything_with_a_rather_long_name', 'c4', {
          summary: '{"rows":[{"id":1},{"id":2},{"i…',
          ref: '9.result.exe_1',
        }),
      );
    });
    const failed = page.locator('[data-onward="tool-call"][data-state="error"]');
    await failed.getByText('no answer from enrich_company').waitFor();
    const done = page.locator('[data-onward="tool-call"][data-state="done"]').first();
    await done.locator('summary').click();
    await done.getByText('"Nordlicht Growth"').waitFor();
    const cut = page.locator('[data-onward="tool-call"]').nth(3);
    await cut.locator('summary').focus();
    await page.keyboard.press('Enter');
    await look('tools');
    await cut.getByRole('button', { name: 'Show all' }).click();
    await cut.getByRole('button', { name: /Show all \d+ lines/ }).click();
    await cut.getByText('"id": 39').waitFor();
    await cut.locator('summary').click();
  });

  it('requests approval and checks an edit before it is sent', async () => {
    await page.evaluate(() => {
      const { wire, bring } = window.stage;
      bring(
        wire.toolDone('search_entities', 'c2', '{"results":[]}'),
        wire.stepDone(1, true),
        wire.step(2),
        wire.says(
          'Found it: Helvetia Robotics AG, 84 people, in Winterthur. I’ll remove lead_2207, which is the same company with a typo.',
          'msg_2',
          2,
        ),
        wire.asks('delete_program_lead', 'c5', {
          id: 'lead_2207',
          reason: 'duplicate of lead_2231',
          notify_owner: true,
        }),
        wire.waits('delete_program_lead'),
      );
    });
    const card = page.getByRole('region', { name: 'Run delete_program_lead?' });
    await card.waitFor();
    await page.getByPlaceholder('Approve or deny the call above first.').waitFor();
    await look('approval');
    await card.getByRole('button', { name: 'Edit arguments' }).click();
    await look('approval-fields');
    await card.getByRole('button', { name: 'Edit as JSON' }).click();
    const field = card.getByRole('textbox', { name: 'Arguments as JSON' });
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
    await field.fill('{ "id": "lead_2207", ');
    await card.getByText('This is not JSON').waitFor();
    await card.getByRole('button', { name: 'Approve with changes' }).press('Enter');
    expect(await page.evaluate(() => window.stage.asked.length)).toBe(1);
    await look('approval-invalid');
    await page.keyboard.press('Escape');
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.textContent))
      .toBe('Edit arguments');
    await page.keyboard.press('Enter');
    await card.getByRole('button', { name: 'Edit as JSON' }).click();
    await field.fill('{ "id": "lead_2207", "notify_owner": false }');
    await look('approval-edit');
    await card.getByRole('button', { name: 'Approve with changes' }).press('Enter');
    await card.getByText('Approved. The run continues in a moment.').waitFor();
    expect(await page.evaluate(() => window.stage.asked.at(-1))).toEqual([
      'approve',
      'c5',
      { id: 'lead_2207', notify_owner: false },
      { executionId: 'exe_1' },
    ]);
    await page.evaluate(() => {
      const { wire, bring } = window.stage;
      bring(
        wire.started(),
        wire.tool('delete_program_lead', 'c5', { id: 'lead_2207', notify_owner: false }),
        wire.toolDone('delete_program_lead', 'c5', '{"deleted":true}'),
      );
    });
    await card.waitFor({ state: 'detached' });
    // the focus moves from the card to the composer
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
  });

  it('D02: explains the stop and offers exactly the needed grant', async () => {
    await page.evaluate(() => {
      const { wire, bring } = window.stage;
      bring(wire.stepDone(2, true), wire.limit());
    });
    await page.getByText('The limit of steps was reached').first().waitFor();
    await page.getByText('To continue, add 5 steps.').waitFor();
    await look('stopped');
    const grant = page.getByRole('button', { name: 'Continue with 5 more steps' });
    await grant.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Continuing…' }).waitFor();
    expect(await page.evaluate(() => window.stage.asked.at(-1))).toEqual(['resume', { steps: 5 }]);
    await look('granted');
  });

  it('shows a failed run, a refused grant, a lost connection and an unsent message', async () => {
    await page.evaluate(() => {
      const { wire, bring } = window.stage;
      bring(
        wire.started(),
        wire.ends('failed', {
          step_count: 7,
          stop_reason: 'retry_limit',
          stop_message:
            'It failed too often: enrich_company failed 4 times in a row and all 3 retries are used.',
          resolved_by: 'ErrorPolicyCriterion',
          remedy: { text: 'grant retries', option: 'withErrorPolicy(...)', grant: { retries: 3 } },
          error_message: 'timeout: no answer within 5 s',
        }),
      );
      window.stage.refuse = true;
    });
    await page.getByRole('button', { name: 'Continue with 3 more retries' }).click();
    await page.getByText('It failed: the server answered 503').waitFor();
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.fill('Try the other source');
    await box.press('Enter');
    await page.getByText('Not sent: the server answered 503').waitFor();
    await page.evaluate(() => {
      window.stage.online(false);
      window.stage.fail(
        'GET /sessions/ses_1/events answered 502, expected 200. The request is retried.',
      );
    });
    await page.getByText('Not connected.').waitFor();
    await look('failed');
  });

  it('completes, and follows the theme of the page', async () => {
    await page.evaluate(() => {
      const { wire, bring } = window.stage;
      window.stage.refuse = false;
      window.stage.online(true);
      bring(
        wire.started(),
        wire.step(3),
        wire.says(
          'Done. The lead lead_2231 is in Nordlicht Growth:\n\n  1. company data filled in\n  2. the duplicate is gone\n\n<script>alert("not run")</script>',
          'msg_3',
          3,
        ),
        wire.stepDone(3),
        wire.ends('completed', { step_count: 8 }),
      );
    });
    await page.getByText('Done: the answer asks for no tools.').waitFor();
    await look('completed');
    const background = (): Promise<string> =>
      page.evaluate(
        () => getComputedStyle(document.querySelector('.onward-chat')!).backgroundColor,
      );
    const backgrounds = { light: 'rgb(255, 255, 255)', dark: 'rgb(14, 17, 22)' };
    const other = theme === 'dark' ? 'light' : 'dark';
    const say = (place: string, name: string): Promise<void> =>
      page.locator(place).evaluate((element, it) => element.setAttribute('data-theme', it), name);
    expect(await background(), 'the browser sets the theme').toBe(backgrounds[theme]);
    await say('main', other);
    expect(await background(), 'an element sets it for its content').toBe(backgrounds[other]);
    await say('main', theme);
    await say('html', other);
    expect(await background(), 'and overrides the page').toBe(backgrounds[theme]);
    await say('main', other);
    expect(await background()).toBe(backgrounds[other]);
    expect(await seriousFindings(page)).toEqual([]);
    expect(errors).toEqual([]);
  });
});
