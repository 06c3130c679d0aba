import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { seriousFindings } from '../setup/axe.ts';
import type { DevProcess } from './dev-process.ts';

/** Folder for screenshots of every view. */
const shots = process.env['ONWARD_SHOTS'];
if (shots !== undefined) mkdirSync(shots, { recursive: true });

/** Each theme and each width; all four combinations for screenshots. */
export const looks: readonly (readonly [theme: 'light' | 'dark', width: number])[] = [
  ['light', 1280],
  ['dark', 390],
  ...(shots === undefined
    ? []
    : ([
        ['dark', 1280],
        ['light', 390],
      ] as const)),
];

/** The console in a tab, with its errors. */
export interface Tab {
  readonly page: Page;
  /** Errors of the browser console, and exceptions. */
  readonly errors: string[];
}

export async function openTab(
  browser: Browser,
  dev: Pick<DevProcess, 'url' | 'token'>,
  options: BrowserContextOptions & { readonly path?: string } = {},
): Promise<Tab> {
  const { path, ...look } = options;
  const context = await browser.newContext({
    viewport: { width: 1280, height: 860 },
    colorScheme: 'light',
    reducedMotion: 'reduce', // axe measures colors, so nothing may be half faded
    ...(shots !== undefined && { deviceScaleFactor: 2 }),
    ...look,
  });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.goto(`${dev.url}/#token=${dev.token}`);
  await page.getByRole('navigation', { name: 'Sessions' }).waitFor({ state: 'attached' });
  if (path !== undefined) await page.goto(`${dev.url}/${path}`);
  return { page, errors };
}

export async function send(page: Page, text: string): Promise<void> {
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.fill(text);
  await box.press('Enter');
}

/** Starts a session with this message. */
export async function begin(page: Page, text: string): Promise<void> {
  await page.evaluate(() => {
    location.hash = '#/new';
  });
  await page.getByRole('region', { name: 'New session' }).waitFor();
  await send(page, text);
  await page.waitForURL(/#\/s\//);
}

export const sessionIdOf = (page: Page): string =>
  /#\/s\/([^/?]+)/.exec(page.url())?.[1] ?? `no session in ${page.url()}`;

/** Returns the visible conversation without times. */
export async function conversation(page: Page): Promise<string> {
  const text = await page.getByRole('log', { name: 'Conversation' }).innerText();
  return text.replaceAll(/\d+(?:\.\d+)? m?s\b/g, '…');
}

export const status = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByRole('banner').getByText(text).waitFor();

/** Takes a screenshot and checks axe and the size of the page. */
export async function look(page: Page, name: string): Promise<void> {
  if (shots !== undefined) {
    // wait until the caret and the spinner stop
    await page.waitForTimeout(250);
    await page.screenshot({ path: join(shots, `${name}.png`), animations: 'disabled' });
  }
  expect(await seriousFindings(page), name).toEqual([]);
  const overflow = await page.evaluate(() => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    return Math.max(scrollWidth - window.innerWidth, scrollHeight - window.innerHeight);
  });
  expect(overflow, `${name}: no overflow`).toBeLessThanOrEqual(0);
}
