import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** Retired words. Use criterion, outcome, precedence, fix, request, worker, continue, or the role of a person. */
const retired =
  /\b(?:voices?|ladders?|rungs?|verdicts?|mend(?:s|ed|ing)?|wish(?:es|ed|ing)?|crews?|whoever|somebody|nobody|(?:go|goes|going|gone|went) on)\b/gi;

/** Of events and approvals: emit, notify, get. The demo and sample texts of users are left out. */
const ofEvents = /\b(?:tells?|told|untold|hears?|heard|hearing)\b/gi;
/** Dependencies, closed calls, leases, capacity, periods, the last event, and the heading of a table of fields. */
const ofProse =
  /\b(?:live things|seal(?:s|ed|ing)?|(?:its|one) last words?|what it says|rooms?|stretch(?:es)?|at work|(?:stands?|stood) still|(?:takes?|taken|took|taking) up|carr(?:y|ies|ied) on|leases? (?:(?:is|was|are|were) )?(?:given )?back)\b/gi;
/** Figures of speech for storing, replacing, blocking, permanently. */
const ofSpeech =
  /\b(?:stands? in for|stand-?ins?|stands? (?:before|behind|together|alone|on)|(?:written|wrote|writes?) down|another word|everybody|anybody|for good|laid out|held up|holds? up|be it)\b/gi;
/** British spelling. */
const british =
  /\b(?:colours?|coloured|behaviours?|licences?|grey|catalogues?|labelled|modelled|artefacts?|judgement)\b/gi;
/** A controller in sources. */
const ofSources = /\bdesks?\b/gi;

/** The contract between tool and model in an error message. */
const saysWhen = /\btells the model\b/g;

/** Contract names that stored data and clients rely on, and old names in the changelog. */
const allowed = /\b(?:goOnIf|wouldGoOn|stretchSeconds)\b/g;

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
const retiredIn = (text: string, words: RegExp = retired): readonly string[] =>
  text
    .replaceAll(allowed, '')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[ \t]*\n[ \t/*]*/g, '\n')
    .replaceAll(/\b(go|goes|going|gone|went)\n(on)\b/gi, '$1 $2')
    .split('\n')
    .flatMap((line, i) => (line.match(words) ?? []).map((word) => `line ${i + 1}: ${word}`));

describe('retired words', () => {
  it('appear in no file', () => {
    const found = files.flatMap((file) =>
      retiredIn(readFileSync(file, 'utf8')).map((one) => `${file} ${one}`),
    );
    expect(found.join('\n')).toBe('');
  });

  it.each([
    [
      'of events',
      ofEvents,
      /^(?:docs\/(?!api)[^/]+\.md|(?:bench|examples)\/.*|(?:src|test)\/(?!demo|data|console\/chat-scenes).*\.tsx?)$/,
    ],
    ['of prose', ofProse, /^(?:docs\/.*\.md|[A-Z]+\.md|src\/(?!demo).*\.tsx?)$/],
    ['of speech', ofSpeech, /^(?:docs\/.*\.md|[A-Z]+\.md|examples\/.*|src\/(?!demo).*\.tsx?)$/],
    ['of British English', british, /./],
    ['of sources', ofSources, /^src\/.*\.tsx?$/],
  ])('%s appear in no page and no source', (_what, words, where) => {
    const found = files
      .filter((file) => where.test(file) && file !== 'CHANGELOG.md')
      .flatMap((file) =>
        retiredIn(readFileSync(file, 'utf8').replaceAll(saysWhen, ''), words).map(
          (one) => `${file} ${one}`,
        ),
      );
    expect(found.join('\n')).toBe('');
  });

  it.each([
    ['draft.told = 0; run.untold; this.#tell(x)', ofEvents, ['told', 'untold', 'tell']],
    ['A listener hears what was said. sealOpenCalls()', ofEvents, ['hears']],
    [
      'sealOpenCalls(); its last word; live things',
      ofProse,
      ['seal', 'its last word', 'live things'],
    ],
    [
      'A stand-in stands in for it, held up for good; standard, understand, written',
      ofSpeech,
      ['stand-in', 'stands in for', 'held up', 'for good'],
    ],
    ['The colour of its licence; color, license', british, ['colour', 'licence']],
  ])('and are found in %j', (text, words, expected) => {
    expect(retiredIn(text, words)).toEqual(expected.map((word) => `line 1: ${word}`));
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
