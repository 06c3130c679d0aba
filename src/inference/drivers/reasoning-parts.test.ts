import { describe, expect, it } from 'vitest';
import { ReasoningParts } from './reasoning-parts.ts';

const joined = (...pieces: readonly (readonly [part: unknown, piece: string])[]) => {
  const reasoning = new ReasoningParts();
  const added = pieces.map(([part, piece]) => reasoning.add(part, piece));
  expect(added.join('')).toBe(reasoning.text);
  return reasoning.text;
};

describe('ReasoningParts', () => {
  it.each<[string, readonly (readonly [unknown, string])[], string]>([
    [
      'joins pieces of one part',
      [
        [1, 'H'],
        [1, 'm'],
      ],
      'Hm',
    ],
    [
      'separates parts by a blank line',
      [
        [1, 'A'],
        [2, 'B'],
        [2, 'b'],
      ],
      'A\n\nBb',
    ],
    [
      'adds one line feed after a part that ends with one',
      [
        [1, 'A\n'],
        [2, 'B'],
      ],
      'A\n\nB',
    ],
    [
      'adds none after a part that ends with a blank line',
      [
        [1, 'A\n'],
        [1, '\n'],
        [2, 'B'],
      ],
      'A\n\nB',
    ],
    [
      'appends text without a part',
      [
        [null, 'A'],
        [null, 'B'],
      ],
      'AB',
    ],
    [
      'ignores an empty part',
      [
        [1, ''],
        [2, 'A'],
        [3, ''],
        [2, 'a'],
      ],
      'Aa',
    ],
  ])('%s', (_rule, pieces, text) => {
    expect(joined(...pieces)).toBe(text);
  });

  it('treats a part that has ended as a new one', () => {
    const reasoning = new ReasoningParts();
    reasoning.add(1, 'A');
    reasoning.endPart();
    reasoning.add(1, 'B');
    expect(reasoning.text).toBe('A\n\nB');
  });
});
