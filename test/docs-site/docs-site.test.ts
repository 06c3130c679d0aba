import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { guides, references } from '../../docs-tools/pages.ts';

it('npm run docs:site builds every page of docs/ with a search index, and follows every link', () => {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [resolve('node_modules/jiti/lib/jiti-cli.mjs'), 'docs-tools/site.ts'],
    { encoding: 'utf8', timeout: 900_000 },
  );
  expect(status, `${stdout}\n${stderr}`).toBe(0);
  const pages = [...guides(), ...references()]
    .map(({ file }) => file)
    .filter((file) => file.startsWith('docs/'))
    .map((file) => file.replace(/^docs\//, '').replace(/README\.md$/, 'index.md'));
  const missing = pages.filter(
    (page) => !existsSync(`build/docs-site/${page.replace(/\.md$/, '.html')}`),
  );
  expect(missing).toEqual([]);
  const index = readFileSync('build/docs-site/index.html', 'utf8');
  for (const title of ['Start', 'Guides', 'Concepts', 'Recipes', 'Operations', 'Reference'])
    expect(index).toContain(`>${title}</h2>`);
  // code in a sentence keeps its braces, and what llms.txt names is there
  expect(readFileSync('build/docs-site/react.html', 'utf8')).toContain('{{');
  const named = readFileSync('build/docs-site/llms.txt', 'utf8').matchAll(/\]\((docs\/[^)#]+)/g);
  for (const [, page = ''] of named) expect(existsSync(`build/docs-site/${page}`), page).toBe(true);
  const chunks = readdirSync('build/docs-site/assets', { recursive: true, encoding: 'utf8' });
  expect(chunks.filter((file) => file.includes('localSearchIndex')).length).toBeGreaterThan(0);
}, 960_000);
