import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** Retired words. Use criterion, outcome, precedence, fix, request, worker, continue, or the role of a person. */
const retired =
  /\b(?:voices?|ladders?|rungs?|verdicts?|mend(?:s|ed|ing)?|wish(?:es|ed|ing)?|crews?|whoever|somebody|nobody|(?:go|goes|going|gone|went) on)\b/gi;

/** Contract names that stored data and clients rely on, and old names in the changelog. */
const allowed = /\b(?:goOnIf|wouldGoOn)\b/g;

const roots = ['src', 'test', 'examples', 'bench', 'docs', 'docs-tools'];
const files = [
  ...readdirSync('.').filter((name) => /\.(?:md|mjs|ts)$/.test(name)),
  ...roots.flatMap((root) =>
    (readdirSync(root, { recursive: true }) as string[]).map((name) => `${root}/${name}`),
  ),
]
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.(?:tsx?|mjs|js|css|html|svg|md)$/.test(file))
  .filter((file) => !/node_modules|\/(?:dist|build|\.next)\//.test(file))
  .filter((file) => file !== 'test/english.test.ts');

/** Lists the retired words in code, comments, strings and prose, by line. */
const retiredIn = (text: string): readonly string[] =>
  text
    .replaceAll(allowed, '')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[ \t]*\n[ \t/*]*/g, '\n')
    .replaceAll(/\b(go|goes|going|gone|went)\n(on)\b/gi, '$1 $2')
    .split('\n')
    .flatMap((line, i) => (line.match(retired) ?? []).map((word) => `line ${i + 1}: ${word}`));

describe('retired words', () => {
  it('appear in no file', () => {
    const found = files.flatMap((file) =>
      retiredIn(readFileSync(file, 'utf8')).map((one) => `${file} ${one}`),
    );
    expect(found).toEqual([]);
  });

  it.each([
    ["it('goes on after a pause')", ['line 1: goes on']],
    ['/** The voice that decided,\n * whoever asked. */', ['line 1: voice', 'line 2: whoever']],
    ['what lets it go\n * on', ['line 1: go on']],
    ['const wentOnBecause = verdictOf(x)', ['line 1: went On', 'line 1: verdict']],
    ['stop.goOnIf, invoice, amend, recommend, wishlist, logo on, mending', ['line 1: mending']],
  ])('are found in %j', (text, expected) => {
    expect(retiredIn(text)).toEqual(expected);
  });
});
