import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import { decisiveEvaluation } from './evaluations.ts';
import { withoutFullStop } from '../sentence.ts';

/** "Went on because the model called search, requested by ToolCallPresenceCheck"; null for a verdict to stop. */
export function wentOnBecause(outcome: ContinuationOutcomeJSON): string | null {
  if (!outcome.shouldContinue) return null;
  const { decision, resolvedBy } = outcome;
  const by = `${decision === 'request' ? 'requested' : 'allowed'} by ${resolvedBy}`;
  const reason = withoutFullStop(decisiveEvaluation(outcome)?.reason ?? '');
  return reason ? `Went on because ${reason}, ${by}` : `Went on, ${by}`;
}
