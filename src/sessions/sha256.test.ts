import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { sha256, webSha256 } from './sha256.ts';

it('is what is known of it', () => {
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

it('both ways come to the same, whatever the text', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
      expect(await webSha256(text)).toBe(await sha256(text));
    }),
  );
});
