import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContentPart } from '../messages/content-part.ts';
import { cutContent, truncateText } from './truncate-text.ts';

const family = '👩‍👩‍👧';
const flag = '🇳🇴';
const eAcute = 'e\u0301';

describe('truncateText', () => {
  it.each<[string, number | null, string, string]>([
    ['hello', null, 'hello', 'no limit'],
    ['hello', 5, 'hello', 'a text that fits is unchanged'],
    ['hello', 4, 'hell…', 'the ellipsis is not counted'],
    ['hello', 0, '…', 'no characters'],
    ['', 0, '', 'an empty text always fits'],
    ['😀😀😀', 3, '😀😀😀', 'an emoji of two code units is one code point'],
    ['😀😀😀', 2, '😀😀…', 'does not split a surrogate pair'],
    [`a${family}b`, 6, `a${family}…`, 'a family is five code points'],
    [`a${family}b`, 4, 'a…', 'does not split a joined emoji'],
    [`a${eAcute}b`, 2, 'a…', 'does not split a letter and its accent'],
    [`a${eAcute}b`, 3, `a${eAcute}…`, 'a letter with its accent fits'],
    [`${flag}${flag}`, 3, `${flag}…`, 'does not split a flag'],
    ['a\r\nb', 2, 'a…', 'does not split a CRLF'],
    [`x${'\u0301'.repeat(9)}`, 4, '…', 'drops the first character if it alone is too long'],
    ['\ud83dabc', 2, '\ud83da…', 'a lone surrogate counts as one'],
  ])('%j to %j is %j: %s', (text, max, expected) => {
    expect(truncateText(text, max)).toBe(expected);
  });

  it('returns a prefix within the limit and splits no character', () => {
    const pieces = fc.constantFrom('a', ' ', family, flag, eAcute, '😀', '한', '\n', 'नि');
    const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), fc.nat({ max: 60 }), (list, max) => {
        const text = list.join('');
        const cut = truncateText(text, max);
        expect(cut === text).toBe([...text].length <= max);
        if (cut === text) return;
        const kept = cut.slice(0, -1);
        expect(cut.endsWith('…')).toBe(true);
        expect([...kept].length).toBeLessThanOrEqual(max);
        expect(text.startsWith(kept)).toBe(true);
        const ends = [...graphemes.segment(text)].map(({ index }) => index);
        expect(ends).toContain(kept.length);
      }),
    );
  });
});

describe('cutContent', () => {
  const text = (words: string): ContentPart => ({ type: 'text', text: words });

  it('truncates a text, and returns the same list if all parts fit', () => {
    expect(cutContent('hello', 2)).toBe('he…');
    const parts = [text('ab'), text('cd')];
    expect(cutContent(parts, 4)).toBe(parts);
    expect(cutContent(parts, null)).toBe(parts);
  });

  it.each<[number, readonly ContentPart[]]>([
    [3, [text('ab'), text('c…')]],
    [2, [text('ab')]],
    [1, [text('a…')]],
  ])('text parts share one budget: %i', (max, expected) => {
    expect(cutContent([text('ab'), text('cd')], max)).toEqual(expected);
  });

  it('keeps a short URL, and replaces inline data that is too long with a note', () => {
    const image: ContentPart = { type: 'image', url: 'https://x.test/a.png' };
    const file: ContentPart = { type: 'file', data: 'A'.repeat(90), mediaType: 'application/pdf' };
    expect(cutContent([text('see'), image, file], 40)).toEqual([
      text('see'),
      image,
      text('[file application/pdf left out: 90 characters]'),
    ]);
  });
});
