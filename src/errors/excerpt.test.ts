import { describe, expect, it } from 'vitest';
import { createRedactor } from './redactor.ts';
import { excerpt, safeEnd } from './excerpt.ts';

const secret = 'sk-proj-Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9';

describe('excerpt', () => {
  it('returns a short text as it is, without secrets', () => {
    expect(excerpt('Upstream failed.', 100)).toBe('Upstream failed.');
    expect(excerpt(`The key ${secret} is wrong.`, 100)).toBe('The key [redacted] is wrong.');
  });

  it('states the length of a truncated text', () => {
    expect(excerpt(`word ${'and more '.repeat(100)}`, 10)).toBe('word and … (905 characters)');
  });

  it('shows no part of a secret, wherever the excerpt ends', () => {
    for (let before = 60; before <= 120; before++) {
      const text = `${'x '.repeat(before / 2)}${before % 2 ? ' ' : ''}key ${secret} and more`;
      expect(excerpt(text.padEnd(400, ' y'), 120)).not.toContain('sk-');
    }
  });

  it('leaves no part of a secret that only a later redactor knows', () => {
    const later = createRedactor({ patterns: [/ACME-\d{12}/] });
    for (let before = 90; before <= 120; before++) {
      const text = `${'x'.repeat(before)}"ACME-123456789012" ${'y '.repeat(100)}`;
      expect(later.text(excerpt(text, 120))).not.toContain('ACME');
    }
  });

  it('truncates a text without words', () => {
    expect(excerpt('界'.repeat(5_000), 1_000)).toMatch(/^界{500}… \(5000 characters\)$/);
    expect(excerpt('a'.repeat(50_000), 120)).toBe('… (50000 characters)');
  });
});

describe('safeEnd', () => {
  it.each<[string, string, number, string]>([
    ['a short text', 'one two', 10, 'one two'],
    ['between words', 'one two', 3, 'one'],
    ['inside of a word', 'one two', 5, 'one '],
    ['inside of the only word', 'abcdefghij', 4, 'abcd'],
    ['inside of a very long word', `a ${'b'.repeat(600)}`, 550, `a ${'b'.repeat(548)}`],
    ['inside of a character', '👍👍', 1, ''],
    ['at zero', 'one', 0, ''],
  ])('%s', (_where, text, max, kept) => {
    expect(text.slice(0, safeEnd(text, max))).toBe(kept);
  });

  it('leaves no part of a secret for a later redactor', () => {
    const later = createRedactor();
    for (let before = 60; before <= 120; before++) {
      const text = `{"list":[${'1,'.repeat(before / 2)}"${secret}"],"more":"${'y '.repeat(100)}"}`;
      expect(later.text(text.slice(0, safeEnd(text, 120)))).not.toContain('sk-');
    }
  });
});
