import { describe, expect, it } from 'vitest';
import {
  visibleJson,
  visibleLines,
  visibleName,
  visibleProse,
  visibleText,
  visibleValue,
} from './visible-text.ts';

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Code points that must be escaped, by effect. */
const unseen: readonly (readonly [string, readonly number[]])[] = [
  ['control characters', [...range(0x00, 0x1f), ...range(0x7f, 0x9f)]],
  [
    'bidirectional marks',
    [0x061c, 0x200e, 0x200f, ...range(0x202a, 0x202e), ...range(0x2066, 0x2069)],
  ],
  ['zero-width characters', [0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, 0x034f, 0x00ad, 0x180e]],
  [
    'invisible operators and old format controls',
    [...range(0x2061, 0x2064), ...range(0x206a, 0x206f)],
  ],
  ['line and paragraph separators', [0x2028, 0x2029]],
  ['invisible fillers', [0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xffa0, 0x2800]],
  ['variation selectors', [...range(0x180b, 0x180d), ...range(0xfe00, 0xfe0f), 0xe0100, 0xe01ef]],
  ['tags', range(0xe0000, 0xe007f)],
  ['annotations and musical controls', [0xfff9, 0xfffa, 0xfffb, 0x1d173, 0x1bca0]],
  ['lone surrogates', [0xd800, 0xdbff, 0xdc00, 0xdfff]],
];

const escapeOf = (code: number): string => {
  const short: Record<number, string> = { 9: '\\t', 10: '\\n', 13: '\\r' };
  const hex = code.toString(16).padStart(4, '0');
  return short[code] ?? (code > 0xffff ? `\\u{${hex}}` : `\\u${hex}`);
};

describe.each(unseen)('%s', (_name, codes) => {
  it('are escaped in any position', () => {
    for (const code of codes) {
      const char = String.fromCodePoint(code);
      expect(visibleText(`a${char}b`)).toBe(`a${escapeOf(code)}b`);
      expect(visibleText(char)).toBe(escapeOf(code));
      expect(visibleName(`to${char}`)).toContain(`to${escapeOf(code)}`);
      const isLayout = code === 9 || code === 10;
      expect(visibleLines(`a${char}b`)).toBe(isLayout ? `a${char}b` : `a${escapeOf(code)}b`);
    }
  });

  it('are written as JSON escapes, and parse to the same text', () => {
    for (const code of codes) {
      const text = `a${String.fromCodePoint(code)}b`;
      const json = visibleJson(JSON.stringify({ [text]: text }));
      expect(visibleText(json)).toBe(json);
      expect(JSON.parse(json)).toEqual({ [text]: text });
    }
  });
});

it.each([
  ['letters of many scripts', 'Grüße, Ελλάδα, שלום, مرحبا, 日本語, नमस्ते'],
  ['a plain emoji', 'done 👍'],
  ['a family', '👨‍👩‍👧'],
  ['a profession with a skin tone', '👩🏽‍💻'],
  ['a heart with its selector', '❤️'],
  ['a keycap', '1️⃣'],
  ['a flag of two letters', '🇩🇪'],
  ['a backslash', 'C:\\users'],
])('%s stay unchanged', (_name, text) => {
  expect([visibleText(text), visibleLines(text), visibleProse(text)]).toEqual([text, text, text]);
});

it.each([
  ['a second selector after a picture', '❤\ufe0f\ufe0f', '❤️\\ufe0f'],
  ['bytes hidden after a picture', '😀\ufe01\ufe02', '😀\\ufe01\\ufe02'],
  ['a selector after a digit', '1\ufe0f0', '1\\ufe0f0'],
  ['a joiner after a single picture', '😀\u200da', '😀\\u200da'],
  ['a joiner between letters', 'ad\u200dmin', 'ad\\u200dmin'],
  ['a flag made of tags', '🏴\u{e0067}\u{e007f}', '🏴\\u{e0067}\\u{e007f}'],
])('%s is escaped', (_name, text, shown) => expect(visibleText(text)).toBe(shown));

it('does not change an escaped text', () => {
  const once = visibleText('a\u202e\u{e0041}\nb');
  expect(visibleText(once)).toBe(once);
});

it('keeps line ends of both kinds in a text of several lines, and escapes a lone carriage return', () => {
  expect(visibleLines('a\r\nb\tc\nd')).toBe('a\r\nb\tc\nd');
  expect(visibleLines('safe\rrm -rf /')).toBe('safe\\rrm -rf /');
});

it('keeps a joiner at the start and half a line end at the end of a streamed piece', () => {
  expect(['👨', '\u200d👩', 'می\u200cخواهم', 'a\r', '\nb'].map(visibleProse).join('')).toBe(
    '👨\u200d👩می\u200cخواهمa\r\nb',
  );
  expect(visibleProse('a\rb\u001b[2J\u202e')).toBe('a\\rb\\u001b[2J\\u202e');
});

it.each([
  ['to', 'to'],
  ['to ', '"to "'],
  ['', '""'],
  ['t\u00a0o', 't\\u00a0o'],
  ['t o', 't o'],
  ['t\u3000o', 't\\u3000o'],
  ['\\u200bto', '\\\\u200bto'],
  ['\u200bto', '\\u200bto'],
])('the name %j of an argument is shown as %s', (name, shown) => {
  expect(visibleName(name)).toBe(shown);
});

describe('a value for the fields of a log', () => {
  it('is escaped at any depth, names included, and is the same object if nothing changes', () => {
    const plain = { a: ['x', { b: 'two\nlines' }], n: 1, z: null };
    expect(visibleValue(plain)).toBe(plain);
    expect(visibleValue({ 'k\u202e\n': ['\u001b[2J', { deep: 'a\u200bb\n' }] })).toEqual({
      'k\\u202e\\n': ['\\u001b[2J', { deep: 'a\\u200bb\n' }],
    });
    const maker = { toJSON: () => ({ reason: '\u001b' }) };
    expect(visibleValue({ maker })).toEqual({ maker: { reason: '\\u001b' } });
  });

  it('is truncated if it is nested too deep', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    expect(JSON.stringify(visibleValue(loop))).toContain('…');
  });
});
