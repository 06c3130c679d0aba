import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitText, splitText, surelyFits, wireBytes } from './frame-budget.ts';

/** JSON as a string inside JSON, as in the body of a request. */
const onTheWire = (value: unknown): number =>
  new TextEncoder().encode(JSON.stringify(JSON.stringify(value))).length - 2;

const text = fc.string({ unit: 'binary', maxLength: 60 });
const anything = fc.oneof(
  fc.jsonValue({ stringUnit: 'binary' }),
  text,
  fc
    .array(fc.constantFrom('"', '\\', '\n', '\u0001', 'é', '你', '😀', '\ud800', '\udc00', 'a'))
    .map((letters) => letters.join('')),
);

describe('the bytes of a value on the wire', () => {
  it.each([
    ['plain', 9],
    ['"', 8],
    ['\\', 8],
    ['\n', 7],
    ['\u0001', 11],
    ['é', 6],
    ['你', 7],
    ['😀', 8],
    ['\ud800', 11],
  ])('%j: %i bytes', (value, bytes) => {
    expect([wireBytes(value), onTheWire(value)]).toEqual([bytes, bytes]);
  });

  it('is never less than the real size, and hardly more', () => {
    fc.assert(
      fc.property(anything, (value) => {
        const [counted, real] = [wireBytes(value), onTheWire(value)];
        expect(counted).toBeGreaterThanOrEqual(real);
        // short numbers and last commas are counted as longer
        if (typeof value === 'string') expect(counted).toBe(real);
      }),
      { numRuns: 500 },
    );
  });

  it('surelyFits is never true for a value that does not fit', () => {
    fc.assert(
      fc.property(anything, fc.integer({ min: 0, max: 400 }), (value, bytes) => {
        if (surelyFits(value, bytes)) expect(onTheWire(value)).toBeLessThanOrEqual(bytes);
      }),
      { numRuns: 500 },
    );
    expect(surelyFits({ a: 'x'.repeat(100), b: [1, true, null] }, 1_000)).toBe(true);
  });

  it('a cyclic value never fits', () => {
    const loop: unknown[] = [];
    loop.push(loop);
    expect(surelyFits(loop, 1_000_000)).toBe(false);
    expect(wireBytes(loop)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('truncating and splitting', () => {
  const graphemes = fc
    .array(fc.constantFrom('"', '\\', '\n', 'é', '你', '😀', 'a', 'b'))
    .map((letters) => letters.join(''));

  it('fitText keeps as many whole characters as fit, and adds an ellipsis', () => {
    fc.assert(
      fc.property(graphemes, fc.integer({ min: 3, max: 60 }), (given, bytes) => {
        const fitted = fitText(given, bytes);
        expect(wireBytes(fitted) - 4).toBeLessThanOrEqual(bytes);
        expect(fitted).not.toMatch(/\p{Surrogate}/u);
        if (fitted === given) return;
        expect(fitted.endsWith('…')).toBe(true);
        const kept = fitted.slice(0, -1);
        expect(given.startsWith(kept)).toBe(true);
        const next = String.fromCodePoint(given.codePointAt(kept.length)!);
        expect(wireBytes(`${kept}${next}…`) - 4).toBeGreaterThan(bytes);
      }),
      { numRuns: 500 },
    );
  });

  it('splitText returns pieces that fit, without losing or splitting a character', () => {
    fc.assert(
      fc.property(graphemes, fc.integer({ min: 7, max: 40 }), (given, bytes) => {
        const pieces = splitText(given, bytes);
        expect(pieces.join('')).toBe(given);
        for (const piece of pieces) {
          expect(wireBytes(piece) - 4).toBeLessThanOrEqual(bytes);
          expect(piece).not.toMatch(/\p{Surrogate}/u);
        }
      }),
      { numRuns: 500 },
    );
  });
});
