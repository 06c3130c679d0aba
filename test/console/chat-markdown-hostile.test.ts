import { expect, it } from 'vitest';
import { cpuMs } from '../setup/cpu-time.ts';
import { readMarkdown, type MarkdownNode } from '../../src/console/chat/markdown-tree.ts';

/** Returns the visible text. */
const seen = (nodes: readonly MarkdownNode[]): string =>
  nodes
    .map(({ type, token, children }) => (type === 'inline' ? '' : token.content) + seen(children))
    .join('\n');

/** Removes whitespace and markup characters. */
const words = (text: string): string => text.replaceAll(/[\s*_`~>|-]/g, '');

it.each([
  ['stars', '*'.repeat(100_000)],
  ['open strong', '**a '.repeat(25_000)],
  ['open emphasis', '*a '.repeat(33_000)],
  ['all open marks', '*a_b**c__d~~e '.repeat(7_000)],
  ['underscores', '_a'.repeat(50_000)],
  ['backticks', '`'.repeat(99_999)],
  ['runs of backticks', Array.from({ length: 440 }, (_, i) => '`'.repeat(i + 1)).join(' ')],
  ['open brackets', '['.repeat(100_000)],
  ['open images', '!['.repeat(50_000)],
  ['open links', '[x]('.repeat(25_000)],
  ['nested links', '[a[b](c'.repeat(14_000)],
  ['a link of blanks', `[x](${' '.repeat(100_000)}y`],
  ['a link with blanks after its URL', `[x](https://a.b${' '.repeat(100_000)}y`],
  ['open tags', '<'.repeat(100_000)],
  ['invalid URLs', 'https://%:'.repeat(10_000)],
  ['blanks', `a${' '.repeat(100_000)}b`],
  ['blanks in a heading', `# a${' '.repeat(100_000)}b`],
  ['an almost valid rule', `${'- '.repeat(50_000)}x`],
  ['an almost valid table', `|a|\n|-${' '.repeat(100_000)}x`],
  ['quotes', '>'.repeat(100_000)],
  ['nested quotes', '> '.repeat(50_000)],
  ['lists in quotes in lists', '> - > - > - x\n'.repeat(7_000)],
  ['nested lists', Array.from({ length: 400 }, (_, i) => `${' '.repeat(i)}- x`).join('\n')],
  ['bars', '|'.repeat(100_000)],
  ['a table of bars', `${'|a'.repeat(3_000)}|\n${'|-'.repeat(3_000)}|\n`.repeat(8)],
  ['URLs', 'https://a.b '.repeat(8_000)],
  ['one long word', 'x'.repeat(100_000)],
  ['many lines', 'x\n'.repeat(50_000)],
  ['fences', '```\n'.repeat(25_000)],
])('parses 100 KB of %s quickly without losing text', (_what, text) => {
  let shown = '';
  const ms = cpuMs(() => {
    shown = seen(readMarkdown(text));
    readMarkdown(text, true);
  });
  // quadratic code takes minutes
  expect(ms).toBeLessThan(5_000);
  // no toBe: a diff of 100 KB is unreadable
  expect(words(shown) === words(text.replace(/^#/, ''))).toBe(true);
});
