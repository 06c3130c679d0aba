import type { ContinuationEvaluation } from './evaluation.ts';
import type { ContinuationOutcomeJSON } from './outcome.ts';
import { sentence } from '../sentence.ts';

/** The account that `explain()` gives; also what the command line and the README print. */
export function explainOutcome(
  outcome: ContinuationOutcomeJSON,
  decisive: ContinuationEvaluation | undefined,
): string {
  const lines = [headline(outcome, decisive)];
  if (!outcome.shouldContinue && decisive?.remedy) lines.push(`To go on: ${decisive.remedy.text}`);
  const width = Math.max(0, ...outcome.evaluations.map((e) => e.criterion.length));
  for (const e of outcome.evaluations)
    lines.push(`  ${e.decision.padEnd(7)}  ${e.criterion.padEnd(width)}  ${e.reason}`);
  return lines.join('\n');
}

function headline(
  { shouldContinue, stopReason, resolvedBy, decision }: ContinuationOutcomeJSON,
  decisive: ContinuationEvaluation | undefined,
): string {
  const why = decisive?.reason ?? 'no criteria were asked';
  if (shouldContinue)
    return `Goes on, ${decision === 'request' ? 'requested' : 'allowed'} by ${resolvedBy}: ${sentence(why)}`;
  if (stopReason === 'completed') return `Completed, says ${resolvedBy}: ${sentence(why)}`;
  return `Stopped (${stopReason}) by ${resolvedBy}: ${sentence(why)}`;
}
