import type { JsonObject } from '../../../json.ts';
import type { Talk } from '../conversation.ts';
import {
  field,
  listIn,
  callTools,
  rowIn,
  say,
  standingOf,
  type Call,
  type Reply,
} from '../reply.ts';
import { listText, sentence } from '../../../sentence.ts';
import { day, withoutAdvice, lines } from '../wording.ts';
import { leadIdsIn, programIn, statusIn, unknownProgramIn } from '../words.ts';

/** Maximum approvals at a time. */
const MAX_APPROVALS = 8;

/** Deletes leads that are named by id, or the inactive leads of a program. The user approves each. */
export function deleteLeads(talk: Talk): Reply {
  const [wanted = '', duplicateOf] = talk.text.split(/,? (?:as )?(?:a )?duplicate of /i);
  const ids = leadIdsIn(wanted).slice(0, MAX_APPROVALS);
  return ids.length > 0 ? byId(talk, ids, duplicateOf) : byStatus(talk);
}

function byId(talk: Talk, ids: readonly string[], duplicateOf: string | undefined): Reply {
  const reads = ids.map((id): Call => ({ name: 'get_lead', args: { id } }));
  const standings = reads.map((call) => standingOf(talk, call));
  const open = reads.filter((_call, i) => standings[i]?.is === 'todo');
  if (open.length > 0) return callTools(`Let me look at ${listText(ids)} first.`, ...open);
  const found = standings.flatMap((s) => (s.is === 'done' ? [rowIn(s.value)] : []));
  const missing = standings.flatMap((s) => (s.is === 'failed' ? [withoutAdvice(s.said)] : []));
  const because = /\b(?:because|as|since) (.{3,200})$/i.exec(talk.text)?.[1];
  const reason = duplicateOf
    ? `duplicate of ${leadIdsIn(duplicateOf)[0] ?? 'another lead'}`
    : (because ?? 'asked for in the conversation');
  return remove(talk, found, () => reason, missing);
}

function byStatus(talk: Talk): Reply {
  const program = programIn(talk.text) ?? unknownProgramIn(talk.text);
  const status = statusIn(talk.text) ?? 'inactive';
  const call: Call = {
    name: 'search_leads',
    args: { ...(program && { program }), status, limit: MAX_APPROVALS },
  };
  const standing = standingOf(talk, call);
  const where = program === null ? '' : ` in ${program}`;
  if (standing.is === 'todo') return callTools(`Let me look for ${status} leads${where}.`, call);
  if (standing.is !== 'done') return say(withoutAdvice(`I deleted nothing: ${standing.said}`));
  const found = listIn(standing.value, 'leads');
  if (found.length === 0) return say(`There is no ${status} lead${where}: nothing to clean up.`);
  return remove(
    talk,
    found,
    (lead) => `${status}, no activity since ${field(lead, 'last_activity')}`,
    [],
  );
}

function remove(
  talk: Talk,
  found: readonly JsonObject[],
  reasonFor: (lead: JsonObject) => string,
  problems: readonly string[],
): Reply {
  const calls = found.map((lead) => deletion(lead, reasonFor(lead)));
  const standings = calls.map((call) => standingOf(talk, call));
  const open = calls.filter((_call, i) => standings[i]?.is === 'todo');
  if (open.length > 0) {
    const names = open.map(({ args }) => `${field(args, 'company')} (${field(args, 'id')})`);
    return callTools(
      `I would delete ${listText(names)}. ${open.length === 1 ? 'That needs' : 'Each of them needs'} your approval.`,
      ...open,
    );
  }
  const told = standings.map((standing, i) => {
    const { args } = calls[i] ?? { args: {} };
    const lead = `${field(args, 'id')} ${field(args, 'company')}`;
    if (standing.is === 'denied')
      return sentence(`You denied ${lead} (${standing.said}): I left it`);
    if (standing.is !== 'done')
      return withoutAdvice(
        `${lead} is still there: ${standing.is === 'failed' ? standing.said : ''}`,
      );
    const gone = rowIn(standing.value);
    const owner = gone['owner_notified'] === true ? ` ${field(gone, 'owner')} was told.` : '';
    return `Deleted ${field(gone, 'deleted')} ${field(gone, 'company')} from ${field(gone, 'program')}.${owner}`;
  });
  const all = [...told, ...problems];
  const gone = standings.filter(({ is }) => is === 'done').length;
  return say(
    all.length === 1 ? (all[0] ?? '') : `${gone} of ${all.length} leads are gone:\n${lines(all)}`,
  );
}

const deletion = (lead: JsonObject, reason: string): Call => ({
  name: 'delete_lead',
  args: {
    id: field(lead, 'id'),
    company: field(lead, 'company'),
    program: field(lead, 'program'),
    reason: reason.replace(/\d{4}-\d{2}-\d{2}/, day),
    notify_owner: field(lead, 'owner') !== '',
  },
});
