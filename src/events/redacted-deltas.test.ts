import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, defaultRedactor, REDACTED } from '../errors/redactor.ts';
import { RedactedDeltas } from './redacted-deltas.ts';

const shown = (pieces: readonly string[], redactor = defaultRedactor): string[] => {
  const deltas = new RedactedDeltas(redactor);
  return pieces.map((piece) => deltas.push(piece));
};

/** Returns the text in one chunk, in every two chunks, and letter by letter. */
const splits = (text: string): string[][] => [
  [text],
  ...Array.from(text.slice(1), (_c, i) => [text.slice(0, i + 1), text.slice(i + 1)]),
  [...text],
];

const canary = 'canary-0123456789';
const cases: [string, unknown][] = [
  ['a secret key', { user: 'bob', password: canary, after: 1 }],
  ['a secret key first', { password: canary }],
  ['a secret key with a list', { tokens: ['kept'], credentials: [canary, canary], after: [1] }],
  ['a secret key with an object', { credentials: { user: 'bob', pin: canary, n: [1] }, after: 2 }],
  ['a list of objects', { users: [{ password: canary }, { password: canary, x: [{ y: 1 }] }] }],
  ['a bearer token', { header: `Authorization: Bearer ${canary}` }],
  ['a key inside words', { note: `use sk-live-${canary} and be quick` }],
  ['a private key', { pem: `-----BEGIN RSA PRIVATE KEY-----\n${canary}\n-----END` }],
  ['JSON in a string', { body: JSON.stringify({ a: 1, password: canary, b: [2] }) }],
  ['JSON in JSON in a string', { body: JSON.stringify({ b: JSON.stringify({ token: canary }) }) }],
  ['a number under a secret key', { token: 12, password: null, secret: true, apiKey: 1.5e3 }],
  ['an empty secret', { password: '', note: 'x' }],
  ['quotes and backslashes', { path: 'C:\\', quote: 'say "hi"', password: `a"${canary}\\` }],
  ['letters of every kind', { name: 'Zoë 😀', note: '\u2028\n\t' }],
  ['nothing', {}],
];

describe('arguments that arrive in chunks', () => {
  it.each(cases)('%s: every split shows the same as the whole', (_what, args) => {
    for (const text of [JSON.stringify(args), JSON.stringify(args, null, 2)])
      for (const pieces of splits(text)) {
        const all = shown(pieces).join('');
        expect(all).not.toContain('canary');
        expect(JSON.parse(all)).toEqual(defaultRedactor.value(args));
      }
  });

  it('shows other values as written', () => {
    const text = '{ "a" : [1, -2.5e3, true, null], "b": "\\u0041 \\/ x" }';
    expect(shown([...text]).join('')).toBe(text);
  });

  it('escapes do not hide a secret or its key', () => {
    const key = String.raw`{"pass\u0077ord":"${canary}","b":1}`;
    const secret = String.raw`{"note":"\u0073k-live-${canary}"}`;
    for (const text of [key, secret])
      for (const pieces of splits(text)) expect(shown(pieces).join('')).not.toContain('canary');
  });

  it('emits a string as a whole, and the rest as it arrives', () => {
    expect(shown(['{"city": "Pa', 'ris", "n', 'ights": 1', '2, "x":', ' "y"}'])).toEqual([
      '{"city": ',
      '"Paris", ',
      '"nights": ',
      '12, "x":',
      ' "y"}',
    ]);
  });

  it('never shows a string without an end', () => {
    expect(shown([`{"note":"Bearer ${canary}`, ' and more'])).toEqual(['{"note":', '']);
  });

  it.each([
    [`{password: ${canary}}`, '{'],
    [`{'password': '${canary}'}`, '{'],
    [`{"a":1} ${canary}`, '{"a":1} '],
    [`{"password": ${canary}, "b": 1}`, '{"password": '],
    [`call(${canary})`, ''],
  ])('shows nothing after %s, which is not JSON', (text, expected) => {
    for (const pieces of splits(text)) expect(shown(pieces).join('')).toBe(expected);
  });

  it('uses the redactor it is given', () => {
    const custom = createRedactor({ keys: ['iban'], patterns: [/CUST \d+/] });
    const text = JSON.stringify({ iban: 'DE02', note: 'for CUST 42' });
    for (const pieces of splits(text))
      expect(JSON.parse(shown(pieces, custom).join(''))).toEqual({
        iban: REDACTED,
        note: `for ${REDACTED}`,
      });
  });

  it('shows the same for any arguments in any chunks', () => {
    const key = fc.oneof(fc.constantFrom('password', 'token', 'note', 'credentials'), fc.string());
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.string({ unit: 'binary' }),
        fc.double({ noDefaultInfinity: true, noNaN: true }),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(
        fc.dictionary(key, tree, { maxKeys: 4 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (args, sizes) => {
          const text = JSON.stringify(args);
          const pieces: string[] = [];
          for (let at = 0, i = 0; at < text.length; i++) {
            const size = sizes[i % sizes.length]!;
            pieces.push(text.slice(at, (at += size)));
          }
          const whole = JSON.parse(text) as unknown;
          expect(JSON.parse(shown(pieces).join(''))).toEqual(defaultRedactor.value(whole));
        },
      ),
    );
  });
});
