import { expect, it } from 'vitest';
import { excerptOf, wordsOf } from './match-text.ts';

const shown = (text: string, search: string): string | null => {
  const found = excerptOf(text, wordsOf(search));
  if (!found) return null;
  let at = 0;
  let result = '';
  for (const [from, to] of found.ranges) {
    result += `${found.text.slice(at, from)}[${found.text.slice(from, to)}]`;
    at = to;
  }
  return result + found.text.slice(at);
};

it.each<[string, string, string | null, string]>([
  ['Connection refused', 'refused', 'Connection [refused]', 'marks the word'],
  ['Connection refused', 'REFUSED con', '[Con]nection [refused]', 'marks all words, without case'],
  ['Suche Müller', 'muller', 'Suche [Müller]', 'ignores accents, also decomposed ones'],
  ['Suche Mu\u0308ller', 'müller', 'Suche [Mu\u0308ller]', 'maps decomposed letters'],
  ['a\nb\tc', 'c', 'a b [c]', 'is one line'],
  ['nothing', 'absent', null, 'is null without a match'],
  ['aaaa', 'aa', '[aaaa]', 'joins ranges that touch'],
  ['😀 x 😀', 'x', '😀 [x] 😀', 'keeps characters of two halves whole'],
  ['ﬁle', 'file', '[ﬁle]', 'maps letters that become several'],
])('of %j for %j: %s (%s)', (text, search, expected) => {
  expect(shown(text, search)).toBe(expected);
});

it('is bounded, and says where it is cut', () => {
  const text = `${'x '.repeat(5_000)}needle${' y'.repeat(5_000)}`;
  const found = shown(text, 'needle') ?? '';
  expect(found).toMatch(/^….*\[needle\].*…$/);
  expect(found.length).toBeLessThan(200);
});
