import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { rolldown } from 'rolldown';

/** A whole page from one source file, ready for `page.setContent`. */
export async function pageOf(entry: string, ...styles: readonly string[]): Promise<string> {
  const bundle = await rolldown({
    input: entry,
    platform: 'browser',
    logLevel: 'silent',
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

/** The page has drawn what it was told, and has heard of the scrolling that this brought. */
export const drawn = (page: Page): Promise<void> =>
  page.evaluate(
    () =>
      new Promise((done) => {
        requestAnimationFrame(() => requestAnimationFrame(() => done()));
      }),
  );
