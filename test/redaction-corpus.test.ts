import { createRedactor } from 'onward';
import { describe, expect, it } from 'vitest';
import { streamOf } from '../src/errors/redactor.ts';
import { negatives, positives, tokens } from './data/redaction-corpus.ts';

const redactor = createRedactor();
const { text, value } = redactor;

const streamed = (pieces: readonly string[]): string => {
  const stream = streamOf(redactor);
  return pieces.map((piece) => stream.push(piece)).join('') + stream.end();
};

/** All splits in two, and splits into pieces of 1, 3 and 7 characters. */
const splits = (whole: string): readonly (readonly string[])[] => [
  ...Array.from(whole, (_, i) => [whole.slice(0, i), whole.slice(i)]),
  ...[1, 3, 7].map((size) =>
    Array.from({ length: Math.ceil(whole.length / size) }, (_, i) =>
      whole.slice(i * size, (i + 1) * size),
    ),
  ),
];

/** The longest part of a secret that may be visible is shorter than this. */
const WINDOW = 8;

/** Returns the first visible part of a secret, or null. */
function leakIn(seen: string, secrets: readonly string[]): string | null {
  if (!seen.includes('[redacted]')) return seen;
  for (const secret of secrets) {
    const size = Math.min(secret.length, WINDOW);
    for (let i = 0; i + size <= secret.length; i++)
      if (seen.includes(secret.slice(i, i + size))) return secret.slice(i, i + size);
  }
  return null;
}
const expectHidden = (seen: string, secrets: readonly string[]): void =>
  expect(leakIn(seen, secrets), seen).toBeNull();

/** The text without «», and the secrets inside them. */
function marked(entry: string): { readonly plain: string; readonly secrets: readonly string[] } {
  return {
    plain: entry.replaceAll(/[«»]/g, ''),
    secrets: [...entry.matchAll(/«([^»]*)»/g)].map(([, secret = '']) => secret),
  };
}

describe('redaction corpus', () => {
  it.each(Object.entries(tokens))(
    '%s: is redacted alone, in a sentence, as a value and in any pieces',
    (_, token) => {
      expect(text(token)).toBe('[redacted]');
      expect(value({ note: [token] })).toEqual({ note: ['[redacted]'] });
      const sentence = `Take ${token} and go.`;
      expect(text(sentence)).toBe('Take [redacted] and go.');
      for (const pieces of splits(sentence)) {
        const seen = streamed(pieces);
        // the letters before the first separator may be visible: they are not secret
        const leak = leakIn(seen, [token.replace(/^[A-Za-z]{2,12}(?=[-_.])/, '')]);
        if (leak !== null || !seen.endsWith(' and go.')) expect.fail(`${leak} in ${seen}`);
      }
      for (const frame of ['"@"', "'@'", '(@)', '<@>', '`@`', 'key=@', '"a":"@"', '@, and', '@.'])
        expectHidden(text(frame.replace('@', token)), [token]);
    },
  );

  it.each(Object.entries(positives))('%s: is redacted as a whole and in any pieces', (_, entry) => {
    const { plain, secrets } = marked(entry);
    const seen = text(plain);
    expectHidden(seen, secrets);
    const inPieces = secrets.map((secret) => secret.replace(/^(?:bearer|-----BEGIN)\s*/i, ''));
    for (const pieces of splits(plain)) {
      const leak = leakIn(streamed(pieces), inPieces);
      if (leak !== null) expect.fail(`${leak} in ${streamed(pieces)} of ${JSON.stringify(pieces)}`);
    }
    // text outside of the marks is visible
    const outside = entry.split(/«[^»]*»/).flatMap((part) => part.match(/[A-Za-z]{3,}/g) ?? []);
    expect(outside.filter((word) => !seen.includes(word))).toEqual([]);
    expectHidden(JSON.stringify(value({ deep: [plain] })), secrets);
  });

  it.each(Object.entries(positives))('%s: text before and after it is kept', (_, entry) => {
    const { plain, secrets } = marked(entry);
    const seen = text(`Before it.\n\n${plain}\n\nBehind it all is shown.`);
    expectHidden(seen, secrets);
    expect(seen.startsWith('Before it.\n\n')).toBe(true);
    expect(seen.endsWith('\n\nBehind it all is shown.')).toBe(true);
  });

  it.each(negatives)('keeps %s', (plain) => {
    expect(text(plain)).toBe(plain);
    for (const pieces of splits(plain))
      if (streamed(pieces) !== plain) expect(streamed(pieces)).toBe(plain);
  });

  it('redacting twice changes nothing', () => {
    for (const entry of [...Object.values(positives), ...Object.values(tokens), ...negatives]) {
      const once = text(entry.replaceAll(/[«»]/g, ''));
      expect(text(once)).toBe(once);
    }
  });
});
