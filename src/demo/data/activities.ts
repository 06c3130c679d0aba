import { daysBefore } from './dates.ts';
import type { LeadRow } from './leads.ts';

export type Activity = readonly [day: string, kind: string, note: string];

/** Kinds of activity with their notes. */
const habits: readonly (readonly [kind: string, note: string])[] = [
  ['call', 'Spoke about scope and timing; they want a written summary before the next call.'],
  ['email', 'Sent the price list and two references from the same industry.'],
  ['meeting', 'Met the team on site; the decision needs a second signature.'],
  ['note', 'Budget is planned for the coming half-year, subject to the board.'],
  ['email', 'They asked how support works at night and on holidays; answered the same day.'],
  ['call', 'Short check-in. No change since the last talk, follow up in two weeks.'],
  ['demo', 'Showed the product to five people; good questions about exports and roles.'],
  ['note', 'The contact is on leave; a deputy is named in the mailbox reply.'],
];

/** Initial number of activities of a lead. */
const ENTRIES = 72;
/** Average days between two activities. */
const RHYTHM_DAYS = 9;

/** Returns the history of a lead, newest first. It is the same for the same lead, and ends on its last activity. */
export function activitiesOf({ id, idleDays }: LeadRow, today: string): readonly Activity[] {
  const seed = Number(id.slice(-4));
  return Array.from({ length: ENTRIES }, (_entry, i) => {
    const [kind, note] = habits[(seed + i * 5) % habits.length] ?? ['note', ''];
    const daysAgo = idleDays + i * RHYTHM_DAYS + ((seed * (i + 3)) % 5) * Math.sign(i);
    return [daysBefore(today, daysAgo), kind, note];
  });
}
