import { compactionText } from '../events/compaction-text.ts';
import { counted } from '../number-text.ts';
import type { ModelCallFact } from './model-call-facts.ts';
import type { TraceStep } from './trace.ts';

/** Returns what was left out before the model call of a step, with sizes before and after. */
export function compactionFacts({
  compactions = [],
  compactionUsage,
  notes,
}: TraceStep): readonly ModelCallFact[] {
  return [
    ...compactions.map((one) => ({
      text: `${compactionText(one)}${one.reason === 'context_length' ? ', after a request that was too long' : ''}`,
    })),
    ...(notes.includes('summaryFailed') ? [{ text: 'a summary failed' }] : []),
    ...(compactionUsage
      ? [{ text: `${counted(compactionUsage.total, 'token')} for summaries` }]
      : []),
  ];
}
