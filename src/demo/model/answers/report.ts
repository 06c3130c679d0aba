import type { Talk } from '../conversation.ts';
import {
  amount,
  field,
  listIn,
  callTools,
  rowIn,
  say,
  standingOf,
  type Call,
  type Reply,
} from '../reply.ts';
import { count, day, euros, withoutAdvice, leadLine, lines } from '../wording.ts';
import { programIn, unknownProgramIn } from '../words.ts';

const SHOWN = 3;

/** Answers with a summary; the tool result has the whole report. */
export function report(talk: Talk): Reply {
  const program = programIn(talk.text) ?? unknownProgramIn(talk.text);
  if (program === null)
    return say('Of which program? Say for example: show the full Nordlicht report.');
  const call: Call = { name: 'program_report', args: { program } };
  const standing = standingOf(talk, call);
  if (standing.is === 'todo') return callTools(`Putting the report of ${program} together.`, call);
  if (standing.is !== 'done') return say(withoutAdvice(standing.said));
  const value = rowIn(standing.value);
  const about = rowIn(value['program'] ?? null);
  const totals = rowIn(value['totals'] ?? null);
  const all = listIn(value, 'leads');
  const entries = all.reduce((sum, lead) => sum + listIn(lead, 'history').length, 0);
  const byStatus = listIn(totals, 'by_status').map(
    (row) =>
      `${field(row, 'status')}: ${count(amount(row, 'leads'), 'lead')}, ${euros(amount(row, 'value'))}`,
  );
  return say(
    `${field(about, 'name')} (${field(about, 'tier')}, ${field(about, 'region')}) renews ${day(field(about, 'renews_on'))} ` +
      `and belongs to ${field(about, 'owner')}. ${count(amount(totals, 'leads'), 'lead')} worth ` +
      `${euros(amount(totals, 'value'))}, with ${count(entries, 'entry', 'entries')} of history:\n${lines(byStatus)}\n\n` +
      `The largest:\n${lines(all.slice(0, SHOWN).map(leadLine))}\n\nThe full report is in the result of program_report above.`,
  );
}
