import { explainOutcome } from '../../continuation/explain.ts';
import type { Trace } from '../../trace/trace.ts';
import { decisiveVoice } from '../../trace/voices.ts';
import { factsOf } from './facts.ts';
import type { Row } from './rows.ts';
import { durationText } from '../../trace/number-text.ts';

/** A step's account as plain text, for an issue or a chat. */
export function explanationOf(trace: Trace, row: Row): string {
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
  if (outcome) lines.push(explainOutcome(outcome, decisiveVoice(outcome)));
  else lines.push('No verdict yet.');
  if (row.isLast && trace.stop) {
    const { lead, because, goOnIf, note } = trace.stop;
    lines.push(`${lead} ${because}${goOnIf === null ? '' : `; it would go on if ${goOnIf}`}.`);
    if (note !== null) lines.push(note);
  }
  return lines.join('\n');
}
