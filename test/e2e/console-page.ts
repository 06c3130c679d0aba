import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { seriousFindings } from '../setup/axe.ts';
import type { DevProcess } from './dev-process.ts';

/** Pictures of every view are kept where this names a folder. */
const shots = process.env['ONWARD_SHOTS'];
if (shots !== undefined) mkdirSync(shots, { recursive: true });
export const keepsPictures: boolean = shots !== undefined;

/** The console in a tab, and what went wrong in it. */
export interface Tab {
  readonly page: Page;
  /** Messages of the browser's console that are errors, and exceptions. */
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
    reducedMotion: 'reduce', // axe measures colours, and nothing is to be half faded
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

/** Begins a session with this message. */
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

/** What a reader reads, without the times. */
export async function conversation(page: Page): Promise<string> {
  const text = await page.getByRole('log', { name: 'Conversation' }).innerText();
  return text.replaceAll(/\d+(?:\.\d+)? m?s\b/g, '…');
}

export const status = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByRole('banner').getByText(text).waitFor();

/** Looks at the page: a picture, axe, and nothing wider than the screen. */
export async function look(page: Page, name: string): Promise<void> {
  if (shots !== undefined) {
    // the caret and the arc stand still
    await page.waitForTimeout(250);
    await page.screenshot({ path: join(shots, `${name}.png`), animations: 'disabled' });
  }
  expect(await seriousFindings(page), name).toEqual([]);
  const overflow = await page.evaluate(() => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    return Math.max(scrollWidth - window.innerWidth, scrollHeight - window.innerHeight);
  });
  expect(overflow, `${name}: nothing sticks out of the page`).toBeLessThanOrEqual(0);
}
