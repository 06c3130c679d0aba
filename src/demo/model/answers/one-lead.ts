import type { JsonObject } from '../../../json.ts';
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
import { companyFacts, day, euros, lines, withoutAdvice, ownerOf } from '../wording.ts';
import { leadIdsIn, ownerIn, statusIn } from '../words.ts';

/** Shows a lead by its id. */
export function showLead(talk: Talk): Reply {
  const call: Call = { name: 'get_lead', args: { id: leadIdsIn(talk.text)[0] ?? '' } };
  const standing = standingOf(talk, call);
  if (standing.is === 'todo') return callTools('Let me open it.', call);
  if (standing.is !== 'done') return say(withoutAdvice(standing.said));
  const lead = rowIn(standing.value);
  const history = listIn(standing.value, 'activities').map(
    (entry) => `${day(field(entry, 'day'))}, ${field(entry, 'kind')}: ${field(entry, 'note')}`,
  );
  const company = amount(lead, 'employees') > 0 ? `\nCompany: ${companyFacts(lead)}.` : '';
  return say(
    `${field(lead, 'id')} is ${field(lead, 'company')} in ${field(lead, 'program')}: ${field(lead, 'status')}, ` +
      `${euros(amount(lead, 'value'))}, looked after by ${ownerOf(lead)}.\n` +
      `Contact: ${field(lead, 'contact_name') || 'none'}, ${field(lead, 'contact_email') || 'no address'}.${company}` +
      (history.length === 0 ? '' : `\n\nLatest:\n${lines(history)}`),
  );
}

export const wantsChange = (text: string): boolean =>
  leadIdsIn(text).length > 0 &&
  /\b(?:set|mark|move|change|assign|give|update|hand)\b/i.test(text) &&
  Object.keys(changesIn(text)).length > 0;

/** Changes status, owner or value of a lead. */
export function changeLead(talk: Talk): Reply {
  const id = leadIdsIn(talk.text)[0] ?? '';
  const call: Call = { name: 'update_lead', args: { id, ...changesIn(talk.text) } };
  const standing = standingOf(talk, call);
  if (standing.is === 'todo') return callTools(`Changing ${id}.`, call);
  if (standing.is !== 'done') return say(withoutAdvice(`Nothing was changed: ${standing.said}`));
  const lead = rowIn(standing.value);
  return say(
    `Done: ${field(lead, 'id')} ${field(lead, 'company')} is ${field(lead, 'status')}, worth ` +
      `${euros(amount(lead, 'value'))}, and belongs to ${ownerOf(lead)}.`,
  );
}

function changesIn(typed: string): JsonObject {
  // the digits of an id are not an amount
  const text = typed.replaceAll(/\blead[_ -]?\d+/gi, 'it');
  const status = statusIn(text);
  const owner = ownerIn(text);
  const other = /\b(?:to|owner) (\p{Lu}\p{L}+ \p{Lu}\p{L}+)/u.exec(text)?.[1];
  const value = /(?:€|\bvalue\b\D{0,16}|\bworth\b\D{0,6})(\d[\d.,]{0,11})/i.exec(text)?.[1];
  const named = owner === null || owner === 'unassigned' ? other : owner;
  return {
    ...(status && { status }),
    ...(named && { owner: named }),
    ...(value && { value: Number(value.replaceAll(/[.,]/g, '')) }),
  };
}
