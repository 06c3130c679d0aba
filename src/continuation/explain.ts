import { sentence } from '../sentence.ts';
import { decisiveOf } from './decisive.ts';
import { explainOutcome, noteTexts } from './explain-outcome.ts';
import type { ContinuationOutcomeJSON } from './outcome.ts';

/** Writes the text that `explain()` returns and the CLI prints. */
export function explanationText(outcome: ContinuationOutcomeJSON): string {
  const { evaluations } = outcome;
  const { actions } = explainOutcome(outcome);
  const lines = [headline(outcome), ...noteTexts(outcome)];
  const [action] = actions;
  if (action) lines.push(`To continue: ${action.developerText}`);
  const width = Math.max(0, ...evaluations.map((e) => e.criterion.length));
  for (const e of evaluations)
    lines.push(`  ${e.decision.padEnd(7)}  ${e.criterion.padEnd(width)}  ${e.reason}`);
  return lines.join('\n');
}

function headline(outcome: ContinuationOutcomeJSON): string {
  const { shouldContinue, stopReason, resolvedBy, decision } = outcome;
  const why = sentence(decisiveOf(outcome.evaluations)?.reason ?? 'no criteria are configured');
  if (shouldContinue)
    return `Continues (${decision === 'request' ? 'requested' : 'allowed'} by ${resolvedBy}): ${why}`;
  if (stopReason === 'completed') return `Completed (${resolvedBy}): ${why}`;
  return `Stopped (${stopReason}) by ${resolvedBy}: ${why}`;
}
