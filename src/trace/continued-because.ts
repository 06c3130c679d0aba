import { explainOutcome } from '../continuation/explain-outcome.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import { withoutFullStop } from '../sentence.ts';

/**
 * Returns "Continued because the model called search, requested by ToolCallPresenceCheck"; null for an outcome that
 * stops.
 */
export function continuedBecause(outcome: ContinuationOutcomeJSON): string | null {
  if (!outcome.shouldContinue) return null;
  const { headline, decidedBy } = explainOutcome(outcome);
  const by = outcome.decision === 'request' ? 'requested' : 'allowed';
  return `${withoutFullStop(headline)}, ${by} by ${decidedBy}`;
}
