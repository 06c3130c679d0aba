import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bothRedactors,
  createRedactor,
  defaultRedactor,
  streamOf,
  type Redactor,
} from './redactor.ts';
import { keyReader } from './secret-keys.ts';
import { SecretScanner } from './secret-scanner.ts';

const shown = (pieces: readonly string[], redactor = defaultRedactor): string => {
  const text = streamOf(redactor);
  return pieces.map((piece) => text.push(piece)).join('') + text.end();
};

/** Splits the text into chunks of these lengths, repeatedly. */
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
  // detected only by letters, which may arrive one by one
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

describe('text that arrives in chunks', () => {
  it.each(secrets)('D43: hides %s in “%s” for any split', (secret, frame) => {
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

  it.each(secrets)('D43: hides %s in “%s” after much plain text', (secret, frame) => {
    // more than the context, so that the context has been shortened at any position
    for (let words = 170; words < 200; words++) {
      const text = `${'plain '.repeat(words)}${frame.replace('@', secret)}`;
      for (const length of [1, 4, 7]) {
        const seen = shown(cut(text, [length]));
        expect(seen).not.toContain(secret.slice(0, 8));
        expect(seen).toContain('[redacted]');
      }
    }
  });

  it('shows plain text chunk by chunk, as it arrives', () => {
    const text = streamOf(defaultRedactor);
    const pieces = ['Two part', 'ners in', ' Ghent, ', 'and no', ' more.'];
    expect(pieces.map((piece) => text.push(piece))).toEqual(pieces);
    expect(text.end()).toBe('');
  });

  it('does not change text without a secret', () => {
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

  it('shows whole words with custom patterns', () => {
    const own = createRedactor({ patterns: [/CUST-\d{8}/] });
    expect(shown(['Customer CU', 'ST-1234', '5678 is known.'], own)).toBe(
      'Customer [redacted] is known.',
    );
  });

  it('hides a match across several words for any split', () => {
    const own = createRedactor({ patterns: [/CUST \d{4} \d{4}/] });
    const text = 'It is for CUST 1234 5678, who came by today to ask, and for no one else.';
    for (const length of [1, 2, 5, 11, 30])
      expect(shown(cut(text, [length]), own)).toBe(own.text(text));
  });

  it('calls a custom redactor with whole words', () => {
    const own: Redactor = {
      text: (text) => text.replaceAll(/magic \w+/g, '***'),
      value: (value) => value,
      isSecretKey: () => false,
    };
    const text = 'The magic word is said, and no magic number follows it.';
    for (const length of [1, 3, 8]) expect(shown(cut(text, [length]), own)).toBe(own.text(text));
    expect(shown(cut(text, [4]), bothRedactors(own, defaultRedactor))).toBe(own.text(text));
  });

  it('releases a long word with custom patterns, and drops a long match', () => {
    const own = createRedactor({ patterns: [/CUST-\d+/] });
    const words = 'x'.repeat(20_000);
    expect(shown(cut(words, [100]), own)).toBe(words);
    const stream = streamOf(own);
    const first = cut(words, [100]).map((piece) => stream.push(piece));
    expect(first.join('').length).toBeGreaterThan(10_000);
    const long = `see CUST-${'7'.repeat(20_000)} and more`;
    expect(shown(cut(long, [100]), own)).toBe('see [redacted] and more');
  });

  it('does not wait without limit', () => {
    const text = streamOf(defaultRedactor);
    let seen = '';
    for (let i = 0; i < 2_000; i++) seen += text.push('https://example.com/');
    expect(seen.length).toBeGreaterThan(20_000);
  });
});

describe('D92: secrets of any length', () => {
  const letters = 'aB3dE5fG7hJ9kLmN2pQ4rS6tU8vWxYz';
  const random = (length: number): string =>
    Array.from({ length }, (_, i) => letters[(i * i * 7 + i * 3) % letters.length]).join('');
  const secret = random(9_000);
  const lines = secret.replace(/(.{64})/g, '$1\n');

  it.each([
    ['a private key', `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`],
    ['a private key that never ends', `-----BEGIN PRIVATE KEY-----\n${lines}\n\n`],
    ['a JWT', `eyJhbGciOiJSUzI1NiJ9.eyJ${secret}.${random(342)}`],
    ['a JWT with a long head', `eyJ${secret}.eyJhbGciOiJSUzI1NiJ9.${random(342)}`],
    ['a bearer token', `Authorization: Bearer ${secret}`],
    ['a key', `sk-${secret}`],
    ['a value in JSON', `{"password":"${secret}"}`],
    ['a value in JSON that never ends', `{"password":"${secret}\n\n`],
    ['a list', `{"credentials":["a","${secret}"]}`],
    ['a value of an environment', `API_TOKEN=${secret}`],
    ['a value of YAML', `api_token: ${secret}`],
    ['a cookie', `Cookie: sid=${secret}\n`],
    ['the password of an address', `postgres://app:${secret}@db/x`],
    ['a token as the user of an address', `https://${secret}@db.example/x`],
  ])('%s is removed to its end, in chunks of any size', (_what, text) => {
    for (const length of [1, 4, 20, 100, 5_000]) {
      const seen = shown(cut(`Here: ${text} this is behind it.`, [length]));
      for (let i = 0; i + 16 <= secret.length; i += 16)
        if (seen.includes(secret.slice(i, i + 16)))
          expect.fail(`${secret.slice(i, i + 16)} in ${seen}`);
      expect(seen).toContain('[redacted]');
      expect(seen.endsWith('this is behind it.')).toBe(true);
    }
  });
});

describe('private keys', () => {
  const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj';
  const begin = '-----BEGIN PRIVATE KEY-----';

  it.each([
    ['its end', `${begin}\n${line}\n-----END PRIVATE KEY-----\nrm -rf /`, '[redacted]\nrm -rf /'],
    ['no end', `${begin}\n${line}\nabcd\nrm -rf / now`, '[redacted]\nrm -rf / now'],
    ['text immediately', `${begin} and then rm -rf /`, '[redacted] and then rm -rf /'],
    ['text in the next line', `${begin}\nrm -rf / now`, '[redacted]\nrm -rf / now'],
    ['text in the same line', `${begin}\n${line} rm -rf /`, '[redacted] rm -rf /'],
    ['a symbol', `${begin}\n${line}; rm -rf /`, '[redacted]; rm -rf /'],
    [
      'text, then an end',
      `${begin}\nrm -rf /\n-----END PRIVATE KEY-----`,
      `[redacted]\nrm -rf /\n-----END PRIVATE KEY-----`,
    ],
    ['nothing', `${begin}\n${line}`, '[redacted]'],
    ['half a line', `${begin}\n${line}\nabc`, '[redacted]'],
    [
      'the end of a string',
      `"${begin}\\n${line}\\n-----END PRIVATE KEY-----\\n", x`,
      '"[redacted]\\n", x',
    ],
    ['another key', `${begin}\n${line}\n${begin}\n${line}\n`, '[redacted]\n[redacted]\n'],
  ])('shows what follows a key: %s', (_what, text, expected) => {
    expect(defaultRedactor.text(text)).toBe(expected);
    for (const length of [1, 2, 3, 5, 8, 13, 50]) {
      // dashes are shown until a key starts with them
      const seen = shown(cut(text, [length])).replaceAll(/-+\[redacted\]/g, '[redacted]');
      expect(seen).toBe(expected);
    }
  });

  it('many incomplete keys cost linear time', () => {
    const scanner = new SecretScanner(() => null);
    for (let i = 0; i < 20_000; i++) scanner.push(`${begin}\n`);
    expect(scanner.visited).toBeLessThan(20_000 * begin.length * 4);
  });
});

describe('D92: the work per chunk does not depend on earlier text', () => {
  const adversaries = [
    'hello world ', ' ', '\n', '\\', '"', "'", '`', '```', ':', '=', '[', '{', '}', '-', '.', '@', '/', '<', '%3D', '😀',
    'sk-', 'eyJ', 'eyJ-', 'eyJaaaaaaaa.', '://a:', 'https://', 'https://a.example/', 'https://u:p@', '"key":"', '"password":"',
    '"password":["', 'password: ', 'password:', 'password=', 'key=', 'password is ', '"ab" ', 'Bearer ', 'bearer a',
    'authorization: basic ', '-----BEGIN ', '-----BEGIN PRIVATE KEY-----\n', '\\"b\\":\\"', '--password ', '<password>', 'AKIA',
    'SG.', 'github_', 'cookie: a', 'credentials:\n  ', 'QUJD', '{"a":', 'secret: |\n', '"name":"a","value":',
  ]; // prettier-ignore

  it.each(adversaries)('%j', (piece) => {
    const work = (chars: number, size: number): number => {
      const scanner = new SecretScanner(keyReader([]));
      const text = piece.repeat(Math.ceil(chars / piece.length));
      for (let at = 0; at < text.length; at += size) scanner.push(text.slice(at, at + size));
      scanner.end();
      return scanner.visited;
    };
    for (const size of [1, 4, 40]) {
      const [less, more] = [work(4_000, size), work(16_000, size)];
      expect(more).toBeLessThan(4.5 * less + 2_000);
      // and it is small: held text is bounded
      expect(more / 16_000).toBeLessThan(280);
    }
    expect(work(200_000, 200_000)).toBeLessThan(200_000 * 3);
  });
});
