import { describe, expect, it } from 'vitest';
import { createRedactor } from './redactor.ts';
import { excerpt } from './excerpt.ts';

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
