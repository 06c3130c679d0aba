import { expect, it } from 'vitest';
import { readMarkdown, type MarkdownNode } from '../../src/console/chat/markdown-tree.ts';

/** All that a reader would see, without what draws it. */
const seen = (nodes: readonly MarkdownNode[]): string =>
  nodes
    .map(({ type, token, children }) => (type === 'inline' ? '' : token.content) + seen(children))
    .join('\n');

/** Without blanks, and without the marks that may have been read as such. */
const words = (text: string): string => text.replaceAll(/[\s*_`~>|-]/g, '');

it.each([
  ['stars', '*'.repeat(100_000)],
  ['open strong', '**a '.repeat(25_000)],
  ['open emphasis', '*a '.repeat(33_000)],
  ['every mark, open', '*a_b**c__d~~e '.repeat(7_000)],
  ['underscores', '_a'.repeat(50_000)],
  ['backticks', '`'.repeat(99_999)],
  ['runs of backticks', Array.from({ length: 440 }, (_, i) => '`'.repeat(i + 1)).join(' ')],
  ['open brackets', '['.repeat(100_000)],
  ['open pictures', '!['.repeat(50_000)],
  ['open links', '[x]('.repeat(25_000)],
  ['nested links', '[a[b](c'.repeat(14_000)],
  ['a link of blanks', `[x](${' '.repeat(100_000)}y`],
  ['a link with blanks behind its address', `[x](https://a.b${' '.repeat(100_000)}y`],
  ['open tags', '<'.repeat(100_000)],
  ['addresses that are none', 'https://%:'.repeat(10_000)],
  ['blanks', `a${' '.repeat(100_000)}b`],
  ['blanks in a heading', `# a${' '.repeat(100_000)}b`],
  ['what is nearly a rule', `${'- '.repeat(50_000)}x`],
  ['what is nearly a table', `|a|\n|-${' '.repeat(100_000)}x`],
  ['quotes', '>'.repeat(100_000)],
  ['nested quotes', '> '.repeat(50_000)],
  ['lists in quotes in lists', '> - > - > - x\n'.repeat(7_000)],
  ['nested lists', Array.from({ length: 400 }, (_, i) => `${' '.repeat(i)}- x`).join('\n')],
  ['bars', '|'.repeat(100_000)],
  ['a table of bars', `${'|a'.repeat(3_000)}|\n${'|-'.repeat(3_000)}|\n`.repeat(8)],
  ['addresses', 'https://a.b '.repeat(8_000)],
  ['one long word', 'x'.repeat(100_000)],
  ['many lines', 'x\n'.repeat(50_000)],
  ['fences', '```\n'.repeat(25_000)],
])('100 KB of %s are read in time, and nothing of it is lost', (_what, text) => {
  const start = process.cpuUsage(); // not the clock: others may be at work on this machine
  const shown = seen(readMarkdown(text));
  readMarkdown(text, true);
  // what grows with the square takes minutes
  expect(process.cpuUsage(start).user / 1_000).toBeLessThan(5_000);
  // compared by hand: a difference of 100 KB is no message
  expect(words(shown) === words(text.replace(/^#/, ''))).toBe(true);
});
