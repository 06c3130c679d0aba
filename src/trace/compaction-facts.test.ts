import { describe, expect, it } from 'vitest';
import { usageOf } from '../inference/usage.ts';
import { compactionFacts } from './compaction-facts.ts';
import type { TraceStep } from './trace.ts';

const of = (step: Partial<TraceStep>): readonly string[] =>
  compactionFacts({ notes: [], ...step } as TraceStep).map(({ text }) => text);

describe('what a step left out', () => {
  it('is said with the sizes before and after', () => {
    expect(of({})).toEqual([]);
    expect(
      of({
        compactions: [
          {
            id: 'a',
            kind: 'tool_results',
            reason: 'threshold',
            messages: 40,
            tokensBefore: 96_000,
            tokensAfter: 60_000,
          },
          {
            id: 'b',
            kind: 'summary',
            reason: 'context_length',
            messages: 182,
            tokensBefore: 60_000,
            tokensAfter: 48_200,
          },
        ],
        compactionUsage: usageOf({ input: 9_000, output: 400 }),
      }),
    ).toEqual([
      'earlier tool results left out: 96k → 60k tokens',
      'earlier messages summarized: 182 messages, 60k → 48k tokens, after a request that was too long',
      '9,400 tokens for summaries',
    ]);
    expect(of({ notes: ['summaryFailed'] })).toEqual(['a summary failed']);
  });
});
