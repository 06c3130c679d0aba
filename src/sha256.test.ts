import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { ownSha256, sha256 } from './sha256.ts';

it('matches known hashes', () => {
  const known = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  expect(sha256('abc')).toBe(known);
  expect(ownSha256('abc')).toBe(known);
});

it('is the same with and without Node, for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      expect(ownSha256(text)).toBe(sha256(text));
    }),
  );
});

it('is the same at block boundaries, for long texts and for lone surrogates', () => {
  const lengths = [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1_000, 100_003];
  for (const text of [...lengths.map((length) => 'ü'.repeat(length)), 'a\ud800b'])
    expect(ownSha256(text)).toBe(createHash('sha256').update(text).digest('hex'));
});
