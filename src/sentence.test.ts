import { describe, expect, it } from 'vitest';
import { listText, sentence, withoutFullStop } from './sentence.ts';

describe('sentence', () => {
  it.each<[string, string, string]>([
    ['bare words', 'is too short', 'is too short.'],
    ['words with a period', 'is too short.', 'is too short.'],
    ['words with several periods', 'is too short... \n', 'is too short.'],
    ['a question', 'really?', 'really?'],
    ['a question and a period', 'really?.', 'really?'],
    ['a call', 'no!', 'no!'],
    ['words with an ellipsis', 'and so…', 'and so…'],
    ['another script', '値が無効です。', '値が無効です。'],
    ['a quote', 'expected "a."', 'expected "a.".'],
    ['a bracket', 'no (none.)', 'no (none.).'],
    ['nothing', '', ''],
    ['blanks', ' . ', ''],
  ])('ends %s once', (_case, text, expected) => {
    expect(sentence(text)).toBe(expected);
  });

  it('listText joins parts', () => {
    expect(listText([])).toBe('');
    expect(listText(['a'])).toBe('a');
    expect(listText(['a', 'b'])).toBe('a and b');
    expect(listText(['a', 'b', 'c'])).toBe('a, b and c');
  });

  it('withoutFullStop removes periods and blanks at the end', () => {
    expect(withoutFullStop('it failed. ')).toBe('it failed');
    expect(withoutFullStop('why?')).toBe('why?');
  });
});
