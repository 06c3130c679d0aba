import { explanationText } from '../../continuation/explain.ts';
import { explanationLine } from '../../continuation/explanation.ts';
import type { Trace } from '../../trace/trace.ts';
import { factsOf } from './facts.ts';
import type { TraceRow } from './trace-rows.ts';
import { durationText } from '../../number-text.ts';

/** Explains a step as plain text, for an issue or a chat. */
export function explanationOf(trace: Trace, row: TraceRow): string {
  const { step, outcome } = row;
  const head = [`Session ${trace.sessionId}`, trace.executionId && `run ${trace.executionId}`];
  const lines = [head.filter(Boolean).join(', ')];
  if (step) {
    const facts = factsOf(step).map(({ text, code }) => (code ? `${text} ${code}` : text));
    lines.push([`Step ${row.number}`, durationText(step.durationMs), ...facts].join(' · '));
  } else lines.push('Before the first step');
  if (outcome) lines.push(explanationText(outcome));
  else lines.push('No decision yet.');
  if (row.isLast && trace.stop) {
    lines.push(explanationLine(trace.stop.explanation));
  }
  return lines.join('\n');
}
