import { mkdirSync, readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll } from 'vitest';
import { launchBrowser } from './browser.ts';

/** Color schemes and widths in which pages are tested. */
export const looks = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
  ['dark', 390],
] as const;

/** The folder for screenshots of every state. It is created. Undefined: no screenshots. */
export const shots: string | undefined = process.env['ONWARD_SHOTS'];

/** A browser and a page for the tests of a file. */
export function inBrowser(
  entry: string,
  ...styles: readonly string[]
): { readonly browser: () => Browser; readonly html: () => string } {
  let opened: { readonly browser: Browser; readonly html: string } | null = null;
  const ready = () => {
    if (opened === null) throw new Error('The browser opens before the first test.');
    return opened;
  };
  beforeAll(async () => {
    if (shots !== undefined) mkdirSync(shots, { recursive: true });
    const [browser, html] = await Promise.all([launchBrowser(), pageOf(entry, ...styles)]);
    opened = { browser, html };
  });
  afterAll(() => opened?.browser.close());
  return { browser: () => ready().browser, html: () => ready().html };
}

/** Bundles one source file into a page for `page.setContent`. */
async function pageOf(entry: string, ...styles: readonly string[]): Promise<string> {
  const bundle = await rolldown({
    input: entry,
    platform: 'browser',
    logLevel: 'silent',
    moduleTypes: { '.css': 'empty' },
    transform: { define: { 'process.env.NODE_ENV': '"production"' }, jsx: 'react-jsx' },
  });
  const { output } = await bundle.generate({ format: 'iife', name: 'page', minify: true });
  await bundle.close();
  const css = styles.map((file) => readFileSync(file, 'utf8')).join('\n');
  const script = output[0].code.replaceAll('</script', '<\\/script');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Page under test</title>
<style>html,body{margin:0;height:100%}h1{margin:0;font-size:14px}main{height:100%}${css}</style></head>
<body><main id="root"></main><script>${script}</script></body></html>`;
}

/** Waits until the page has rendered and has handled the scrolling that this caused. */
export const drawn = (page: Page): Promise<void> =>
  page.evaluate(
    () =>
      new Promise((done) => {
        requestAnimationFrame(() => requestAnimationFrame(() => done()));
      }),
  );

/** Waits until all animations that end have ended. */
export async function stillness(page: Page): Promise<void> {
  await drawn(page);
  await page.evaluate(() => {
    const ending = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().iterations !== Infinity);
    return Promise.allSettled(ending.map(({ finished }) => finished)).then(() => {});
  });
}
