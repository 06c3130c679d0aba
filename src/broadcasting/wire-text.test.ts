import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clip, jsonText } from './wire-text.ts';

const isWhole = (part: string): boolean => !/\p{Surrogate}/u.test(part);

describe('clip', () => {
  it.each([
    ['short', 5, 'short'],
    ['shorter', 5, 'shor…'],
    ['', 0, ''],
    ['ab', 1, '…'],
    ['a😀b', 3, 'a…'],
    ['a😀b', 4, 'a😀b'],
    ['😀😀', 3, '😀…'],
  ])('%j to %i -> %j', (given, max, expected) => {
    expect(clip(given, max)).toBe(expected);
  });

  it('is never longer, never splits a character, and marks missing text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.integer({ min: 1, max: 40 }),
        (given, max) => {
          const cut = clip(given, max);
          expect(cut.length).toBeLessThanOrEqual(max);
          expect(isWhole(cut)).toBe(isWhole(given));
          if (cut !== given) expect(given.startsWith(cut.slice(0, -1))).toBe(true);
        },
      ),
    );
  });
});

describe('jsonText', () => {
  it('equals JSON.stringify if there is enough space', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 }), (value) => {
        expect(jsonText(value, Number.POSITIVE_INFINITY)).toBe(JSON.stringify(value));
      }),
    );
  });

  it('omits what JSON omits', () => {
    const value = { a: undefined, b: [undefined, () => 1], c: Number.NaN, d: { e: undefined } };
    expect(jsonText(value, 100)).toBe(JSON.stringify(value));
    expect(jsonText(undefined, 100)).toBe('null');
  });

  it('starts like the whole JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 60 }), (value, max) => {
        const shown = clip(jsonText(value, max), max);
        const whole = JSON.stringify(value);
        expect(shown).toBe(clip(whole, max));
      }),
    );
  });

  it('stops reading when it has enough', () => {
    let reads = 0;
    const item = Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => (reads++, 'y'.repeat(1_000_000)),
    });
    const list = new Array<unknown>(10_000).fill(item);
    expect(jsonText({ list }, 200).length).toBeLessThan(500);
    expect(reads).toBe(1);
  });

  it('ends in a cyclic value', () => {
    const loop: Record<string, unknown> = {};
    loop['loop'] = loop;
    expect(jsonText(loop, 10_000)).toContain('…');
  });
});
