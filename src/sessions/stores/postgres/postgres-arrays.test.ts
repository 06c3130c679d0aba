import { expect, it } from 'vitest';
import { numberArray, textArray } from './postgres-arrays.ts';

const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

it('encodes texts as the server reads them', () => {
  expect(hex(textArray(['é', null, '']))).toBe(
    ['00000001', '00000001', '00000019', '00000003', '00000001'].join('') +
      ['00000002', 'c3a9', 'ffffffff', '00000000'].join(''),
  );
});

it('encodes numbers beyond 32 bits, negative ones and nulls', () => {
  expect(hex(numberArray([2 ** 40 + 7, -1, null]))).toBe(
    ['00000001', '00000001', '00000014', '00000003', '00000001'].join('') +
      ['00000008', '0000010000000007', '00000008', 'ffffffffffffffff', 'ffffffff'].join(''),
  );
});

it('gives each array its own bytes, however long the one before was', () => {
  const long = textArray(['x'.repeat(3_000_000)]);
  const first = textArray(['a']);
  textArray(['b']);
  expect(long).toHaveLength(3_000_024);
  expect(long[24]).toBe('x'.charCodeAt(0));
  expect(first[24]).toBe('a'.charCodeAt(0));
});
