import type { JsonObject } from '../../../json.ts';
import type { Talk } from '../conversation.ts';
import { field, listIn, callTools, say, standingOf, type Call, type Reply } from '../reply.ts';
import { count, withoutAdvice, lines } from '../wording.ts';
import { nameKey, programIn } from '../words.ts';

/** Finds companies with two spellings. */
export function duplicates(talk: Talk): Reply {
  const program = programIn(talk.text);
  const call: Call = { name: 'search_leads', args: { ...(program && { program }), limit: 100 } };
  const standing = standingOf(talk, call);
  if (standing.is === 'todo') return callTools('Let me compare the names of the leads.', call);
  if (standing.is !== 'done') return say(withoutAdvice(`I could not search: ${standing.said}`));
  const groups = groupsOf(listIn(standing.value, 'leads'));
  if (groups.length === 0) return say('No company is in the list under two spellings.');
  const pair = groups.flatMap(sameProgram)[0];
  const offer = pair
    ? `\n\nShall I delete ${field(pair[1], 'id')}, a duplicate of ${field(pair[0], 'id')}?`
    : '';
  return say(
    `${count(groups.length, 'company', 'companies')} under more than one spelling:\n` +
      lines(groups.map((group) => group.map(name).join(' / '))) +
      offer,
  );
}

const name = (lead: JsonObject): string =>
  `${field(lead, 'id')} ${field(lead, 'company')} (${field(lead, 'program')}, ${field(lead, 'status')})`;

function groupsOf(leads: readonly JsonObject[]): readonly (readonly JsonObject[])[] {
  const groups = new Map<string, JsonObject[]>();
  for (const lead of leads) {
    const key = nameKey(field(lead, 'company'));
    groups.set(key, [...(groups.get(key) ?? []), lead]);
  }
  return [...groups.values()].filter(
    (group) => new Set(group.map((lead) => field(lead, 'company'))).size > 1,
  );
}

/** Returns the two leads of a group in one program: the active one, and the one to delete. */
function sameProgram(group: readonly JsonObject[]): readonly (readonly [JsonObject, JsonObject])[] {
  return group.flatMap((lead, i) =>
    group
      .slice(i + 1)
      .filter((other) => field(other, 'program') === field(lead, 'program'))
      .map((other) => [lead, other] as const),
  );
}
