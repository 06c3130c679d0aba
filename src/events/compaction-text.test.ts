import { describe, expect, it } from 'vitest';
import { compactionText } from './compaction-text.ts';

const textOf = (tokensBefore: number, tokensAfter: number): string =>
  compactionText({ kind: 'tool_results', messages: 1, tokensBefore, tokensAfter });

describe('the text of a compaction', () => {
  it('has short sizes, unless they would look equal', () => {
    expect(textOf(96_200, 47_800)).toBe('earlier tool results left out: 96k → 48k tokens');
    expect(textOf(2_140, 2_060)).toBe('earlier tool results left out: 2140 → 2060 tokens');
  });
});
