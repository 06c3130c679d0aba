import { expect, it } from 'vitest';
import { LineFeeds } from './line-feeds.ts';

it.each([
  ['a\nb', 'a\nb'],
  ['a\rb', 'a\nb'],
  ['a\r\nb', 'a\nb'],
  ['a\r\r\n\n\rb\r', 'a\n\n\n\nb\n'],
  ['\n\r\n', '\n\n'],
])('%j has one LF per line end, for any split', (text, expected) => {
  expect(new LineFeeds().next(text)).toBe(expected);
  const byCharacter = new LineFeeds();
  expect([...text, ''].map((piece) => byCharacter.next(piece)).join('')).toBe(expected);
  const withBlanks = new LineFeeds();
  expect([...text].map((piece) => withBlanks.next(piece) + withBlanks.next('')).join('')).toBe(
    expected,
  );
});
