import { compactionText } from '../events/compaction-text.ts';
import { countText } from '../number-text.ts';
import type { ModelCallFact } from './model-call-facts.ts';
import type { TraceStep } from './trace.ts';

const whys = {
  threshold: 'the threshold was reached',
  context_length: 'the model refused a longer request',
} as const;

/** Returns what was left out of the request of a step, and what summaries have used. */
export function compactionFacts({
  compactions = [],
  compactionUsage,
}: TraceStep): readonly ModelCallFact[] {
  const facts = compactions.map((compaction) => ({
    text: `${compactionText(compaction)}, because ${whys[compaction.reason]}`,
  }));
  return compactionUsage === undefined
    ? facts
    : [...facts, { text: `summary used ${countText(compactionUsage.total)} tokens` }];
}
