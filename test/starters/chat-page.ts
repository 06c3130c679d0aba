import type { Browser, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { seriousFindings } from '../setup/axe.ts';

/** A tab and the errors in it. */
export interface Tab {
  readonly page: Page;
  readonly errors: readonly string[];
}

export async function openTab(browser: Browser, url: string): Promise<Tab> {
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 } });
  onTestFinished(() => context.close());
  context.setDefaultTimeout(60_000); // a development server compiles at the first request
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(`${message.text()} ${message.location().url}`);
  });
  await page.goto(url);
  return { page, errors };
}

async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

export async function say(page: Page, text: string): Promise<void> {
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.fill(text);
  await box.press('Enter');
}

/**
 * Tests a chat in a browser: a wrong password, the right one, an answer, a call approved with a smaller amount, its
 * answer, and a reload that shows everything again.
 */
export async function holdsChat({ page }: Tab): Promise<void> {
  await signIn(page, 'ada', 'byron');
  await page.getByText('Name or password is wrong.').waitFor();
  await signIn(page, 'ada', 'lovelace');
  await page.getByRole('button', { name: 'New conversation' }).click();

  await say(page, 'Hello?');
  await page.getByText('Which order is it?').first().waitFor();
  await page
    .getByText('Finished because the model answered and called no more tools.')
    .first()
    .waitFor();
  await page.getByRole('link', { name: 'Hello?' }).waitFor();

  await say(page, 'The lamp of A-1001 is broken.');
  const card = page.getByRole('region', { name: 'Run refund?' });
  await card.waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await card.getByRole('button', { name: 'Edit arguments' }).click();
  await card.getByLabel('euros').fill('45');
  await card.getByRole('button', { name: 'Approve with changes' }).click();
  const answer = page.getByText('45 euros for A-1001 are on their way.');
  await answer.first().waitFor();
  await card.waitFor({ state: 'detached' });

  await page.reload();
  await answer.first().waitFor();
  await page.getByText('Which order is it?').first().waitFor();
}

/** Checks that another user sees nothing, even with the address. */
export async function keepsOut(browser: Browser, url: string, sessionId: string): Promise<void> {
  const { page } = await openTab(browser, `${url}/#${sessionId}`);
  await signIn(page, 'ben', 'franklin');
  await page.getByRole('button', { name: 'New conversation' }).waitFor();
  await page.getByText('Not connected.').waitFor();
  expect(await page.getByText('euros').count()).toBe(0);
  expect(await page.getByRole('navigation').getByRole('link').count()).toBe(0);
}

export const sessionIdOf = (page: Page): string => new URL(page.url()).hash.slice(1);
