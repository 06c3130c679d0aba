import { describe, expect, it } from 'vitest';
import { hiddenText, isHiddenAt } from './hidden-args.ts';

describe('where arguments are hidden', () => {
  it('is described with visible characters', () => {
    expect(hiddenText()).toBeNull();
    expect(hiddenText([])).toBeNull();
    expect(hiddenText([''])).toBe('Parts of the arguments are hidden from view.');
    expect(hiddenText(['/a', '/b/\u202e'])).toBe('Hidden from view: /a, /b/\\u202e.');
  });

  it.each<[readonly string[] | undefined, string, boolean]>([
    [undefined, 'a', false],
    [[], 'a', false],
    [[''], 'a', true],
    [['/a'], 'a', true],
    [['/a/b/0'], 'a', true],
    [['/ab'], 'a', false],
    [['/a~1b'], 'a/b', true],
    [['/a~1b'], 'a', false],
  ])('%j at %s: %s', (hidden, name, expected) => {
    expect(isHiddenAt(hidden, name)).toBe(expected);
  });
});
