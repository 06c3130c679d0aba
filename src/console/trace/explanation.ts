import { explainOutcome } from '../../continuation/explain.ts';
import type { Trace } from '../../trace/trace.ts';
import { decisiveEvaluation } from '../../trace/evaluations.ts';
import { factsOf } from './facts.ts';
import type { TraceRow } from './trace-rows.ts';
import { durationText } from '../../trace/number-text.ts';

/** A step's account as plain text, for an issue or a chat. */
export function explanationOf(trace: Trace, row: TraceRow): string {
  const { step, outcome } = row;
  const head = [
    `Session ${trace.sessionId}`,
    trace.executionId && `execution ${trace.executionId}`,
  ];
  const lines = [head.filter(Boolean).join(', ')];
  if (step) {
    const facts = factsOf(step).map(({ text, code }) => (code ? `${text} ${code}` : text));
    lines.push([`Step ${row.number}`, durationText(step.durationMs), ...facts].join(' · '));
  } else lines.push('Before the first step');
  if (outcome) lines.push(explainOutcome(outcome, decisiveEvaluation(outcome)));
  else lines.push('No verdict yet.');
  if (row.isLast && trace.stop) {
    const { lead, because, goOnIf, note } = trace.stop;
    lines.push(`${lead} ${because}${goOnIf === null ? '' : `; it would go on if ${goOnIf}`}.`);
    if (note !== null) lines.push(note);
  }
  return lines.join('\n');
}
