import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, defaultRedactor } from '../errors/redactor.ts';
import { RedactedText } from './redacted-text.ts';

const shown = (pieces: readonly string[], redactor = defaultRedactor): string => {
  const text = new RedactedText(redactor);
  return pieces.map((piece) => text.push(piece)).join('') + text.release();
};

/** The text in pieces of these lengths, again and again. */
function cut(text: string, lengths: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let i = 0, n = 0; i < text.length; n++) {
    const length = lengths[n % lengths.length] ?? 1;
    pieces.push(text.slice(i, i + length));
    i += length;
  }
  return pieces;
}

const secrets = [
  ['sk-live-4f9a2b7c8d1e6f3a5b9c0d2e', 'The key is @ and it works.'],
  ['ghp_abcdefghijklmnopqrstuvwxyz0123', 'Use @ for the clone.'],
  ['abcdef0123456789abcdef', 'Send Authorization: Bearer @ with it.'],
  // known by letters alone, which may come one by one
  ['abcdef0123456789abcdef', 'Send bearer @ with it.'],
  ['AKIAIOSFODNN7EXAMPLE', 'The id is @ here.'],
  ['hunter2hunter2', 'It is postgres://app:@@db.internal/orders, as ever.'],
  ['hunter2hunter2', 'In the file: {"user": "bob", "password": "@"} and no more.'],
  ['hunter2hunter2', 'GET /v1?api_key=@&city=Rome was answered.'],
  [
    'MIIEvQIBADANBgkqhkiG9w0',
    '-----BEGIN PRIVATE KEY-----\n@\n-----END PRIVATE KEY-----\nThat is it.',
  ],
] as const;

describe('text that arrives in pieces', () => {
  it.each(secrets)('D43: hides %s in “%s”, wherever it is cut', (secret, frame) => {
    const text = frame.replace('@', secret);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (lengths) => {
        const seen = shown(cut(text, lengths));
        for (let i = 0; i + 8 <= secret.length; i++)
          expect(seen).not.toContain(secret.slice(i, i + 8));
        expect(seen).toContain('[redacted]');
        expect(seen.endsWith(text.slice(text.lastIndexOf(' ') + 1))).toBe(true);
      }),
    );
  });

  it.each(secrets)('D43: hides %s in “%s” behind much that is plain', (secret, frame) => {
    // more than is remembered, so that what is remembered has been cut, at whatever place
    for (let words = 170; words < 200; words++) {
      const text = `${'plain '.repeat(words)}${frame.replace('@', secret)}`;
      for (const length of [1, 4, 7]) {
        const seen = shown(cut(text, [length]));
        expect(seen).not.toContain(secret.slice(0, 8));
        expect(seen).toContain('[redacted]');
      }
    }
  });

  it('shows plain text piece by piece, as it comes', () => {
    const text = new RedactedText(defaultRedactor);
    const pieces = ['Two part', 'ners in', ' Ghent, ', 'and no', ' more.'];
    expect(pieces.map((piece) => text.push(piece))).toEqual(pieces);
    expect(text.release()).toBe('');
  });

  it('changes no text without a secret', () => {
    const words = fc.constantFrom(
      'a', 'word', 'key:', 'token', 'x=1', 'https://example.com/a?b=c', '"city":', '"Ghent"', '\n',
      'sk-', 'bearer', '`code`', 'well-known', "don't", 'eyJ', '—',
    ); // prettier-ignore
    fc.assert(
      fc.property(
        fc.array(words, { maxLength: 30 }).map((list) => list.join(' ')),
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 }),
        (text, lengths) => {
          fc.pre(defaultRedactor.text(text) === text);
          expect(shown(cut(text, lengths))).toBe(text);
        },
      ),
    );
  });

  it('with patterns of one’s own it shows whole words', () => {
    const own = createRedactor({ patterns: [/CUST-\d{8}/] });
    expect(shown(['Customer CU', 'ST-1234', '5678 is known.'], own)).toBe(
      'Customer [redacted] is known.',
    );
  });

  it('does not wait for ever', () => {
    const text = new RedactedText(defaultRedactor);
    let seen = '';
    for (let i = 0; i < 2_000; i++) seen += text.push('https://example.com/');
    expect(seen.length).toBeGreaterThan(20_000);
  });
});
