import { describe, expect, it } from 'vitest';
import { sentence, withoutFullStop } from './sentence.ts';

describe('sentence', () => {
  it.each<[string, string, string]>([
    ['bare words', 'is too short', 'is too short.'],
    ['words with a full stop', 'is too short.', 'is too short.'],
    ['words with more of them', 'is too short... \n', 'is too short.'],
    ['a question', 'really?', 'really?'],
    ['a question and a full stop', 'really?.', 'really?'],
    ['a call', 'no!', 'no!'],
    ['words that break off', 'and so…', 'and so…'],
    ['another script', '値が無効です。', '値が無効です。'],
    ['a quote', 'expected "a."', 'expected "a.".'],
    ['a bracket', 'no (none.)', 'no (none.).'],
    ['nothing', '', ''],
    ['blanks', ' . ', ''],
  ])('ends %s once', (_case, text, expected) => {
    expect(sentence(text)).toBe(expected);
  });

  it('leaves the end to others', () => {
    expect(withoutFullStop('it failed. ')).toBe('it failed');
    expect(withoutFullStop('why?')).toBe('why?');
  });
});
