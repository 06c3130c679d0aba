import type { JsonObject } from '../../../json.ts';
import { listText } from '../../../sentence.ts';
import { plain } from '../../data/plain.ts';
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
  type Standing,
} from '../reply.ts';
import { companyFacts, withoutAdvice, ownerOf } from '../wording.ts';
import { domainIn, nameKey, ownerIn, programIn } from '../words.ts';

/** Searches the company, reads the directory, then adds the lead: four steps that depend on each other. */
export function addLead(talk: Talk): Reply {
  const company = companyIn(talk.text);
  if (company === null)
    return say('Tell me the company, such as: add a lead for Fjordkraft Systems to Baltic.');
  const search: Call = { name: 'search_leads', args: { text: firstWord(company) } };
  const list: Call = { name: 'search_programs', args: {} };
  const searched = standingOf(talk, search);
  const listed = standingOf(talk, list);
  const open = [search, list].filter((_call, i) => [searched, listed][i]?.is === 'todo');
  if (open.length > 0)
    return callTools(
      `First let me see whether ${company} is there already, and which programs there are.`,
      ...open,
    );
  if (searched.is !== 'done' || listed.is !== 'done')
    return say('I could not search, so I added nothing.');
  const similar = listIn(searched.value, 'leads').filter((lead) =>
    nameKey(field(lead, 'company')).startsWith(nameKey(company).slice(0, 8)),
  );

  const enrich: Call = {
    name: 'enrich_company',
    args: { domain: domainOf(talk, company, similar) },
  };
  const enriched = standingOf(talk, enrich);
  if (enriched.is === 'todo')
    return callTools(
      enriched.tries === 0
        ? `Asking the directory about ${field(enrich.args, 'domain')}.`
        : 'The directory did not answer. Trying again.',
      enrich,
    );
  const known = enriched.is === 'done' ? rowIn(enriched.value) : {};
  const name = field(known, 'name') || company;

  const program = programFor(talk, name, similar);
  const programs = listIn(listed.value, 'programs');
  if (program === null) {
    const there = similar.find((lead) => nameKey(field(lead, 'company')) === nameKey(name));
    return there
      ? say(`${name} is there already: ${field(there, 'id')} in ${field(there, 'program')}.`)
      : say(
          `${directoryNote(enriched)} Active programs are ${listText(namesOfActive(programs))}. Which program should ${name} go to?`.trim(),
        );
  }
  const owner =
    ownerIn(talk.text) ?? field(programs.find((p) => field(p, 'name') === program) ?? {}, 'owner');
  const create = creation(name, program, owner, known, similar[0]);
  const created = standingOf(talk, create);
  if (created.is === 'todo') return callTools(`Adding ${name} to ${program}.`, create);
  if (created.is !== 'done') return say(withoutAdvice(`I added nothing: ${created.said}`));
  return report(talk, rowIn(created.value), enriched, similar);
}

/** Returns the final answer, or one more step if the criterion requested an owner. */
function report(
  talk: Talk,
  lead: JsonObject,
  enriched: Standing,
  similar: readonly JsonObject[],
): Reply {
  const id = field(lead, 'id');
  let owner = ownerOf(lead);
  if (talk.asked?.includes(id) === true && owner === 'unassigned') {
    const change: Call = { name: 'update_lead', args: { id, owner: field(lead, 'program_owner') } };
    const changed = standingOf(talk, change);
    if (changed.is === 'todo')
      return callTools('It needs an owner. I take the one who owns the program.', change);
    if (changed.is === 'done') owner = ownerOf(rowIn(changed.value));
  }
  const facts = amount(lead, 'employees') > 0 ? `: ${companyFacts(lead)}` : '';
  const twin = similar.find((other) => field(other, 'program') === field(lead, 'program'));
  const offer = twin
    ? `\n\n${field(twin, 'id')} "${field(twin, 'company')}" looks like the same company. ` +
      `Shall I delete ${field(twin, 'id')}, a duplicate of ${id}?`
    : '';
  return say(
    `Added ${id} ${field(lead, 'company')} to ${field(lead, 'program')}${facts}. Owner: ${owner}. ${directoryNote(enriched)}`.trim() +
      offer,
  );
}

const directoryNote = (enriched: Standing): string =>
  enriched.is === 'failed'
    ? withoutAdvice(`Without company data: ${enriched.said}`)
    : enriched.is === 'done' && enriched.tries > 1
      ? `The directory answered on try ${enriched.tries}.`
      : '';

/** Returns the named program, else one that has the company under another spelling. */
function programFor(talk: Talk, name: string, similar: readonly JsonObject[]): string | null {
  const named = programIn(talk.text);
  if (named !== null) return named;
  const typed = /\b(?:to|into|in) (?:the )?(\p{Lu}[\p{L}\d-]{2,30})/u.exec(talk.text)?.[1];
  if (typed !== undefined) return typed;
  const has = (lead: JsonObject): boolean =>
    similar.some(
      (other) =>
        field(other, 'program') === field(lead, 'program') &&
        field(other, 'company').toLowerCase() === name.toLowerCase(),
    );
  const other = similar.find((lead) => !has(lead));
  return other ? field(other, 'program') : null;
}

const creation = (
  company: string,
  program: string,
  owner: string,
  known: JsonObject,
  twin: JsonObject | undefined,
): Call => ({
  name: 'create_lead',
  args: {
    company,
    program,
    ...(field(known, 'domain') && { domain: field(known, 'domain') }),
    ...(twin && field(twin, 'contact_name') && { contact_name: field(twin, 'contact_name') }),
    ...(twin && field(twin, 'contact_email') && { contact_email: field(twin, 'contact_email') }),
    ...(twin && { value: amount(twin, 'value') }),
    ...(owner !== '' && owner !== 'unassigned' && { owner }),
    ...(amount(known, 'employees') > 0 && {
      employees: amount(known, 'employees'),
      city: field(known, 'city'),
      industry: field(known, 'industry'),
    }),
  },
});

function companyIn(text: string): string | null {
  const [, named] =
    /\bleads? (?:for |from |of |named |called |: ?)?(?:the company |a company |company )?["“']?(.{2,120}?)["”']?(?=\s+(?:with|to|into|in|at|owned|owner|without|and)\b|[,.!?\n]|$)/i.exec(
      text,
    ) ?? [];
  return named?.trim() || null;
}

const firstWord = (company: string): string => company.split(' ')[0] ?? company;

const domainOf = (talk: Talk, company: string, similar: readonly JsonObject[]): string =>
  domainIn(talk.text) ??
  (field(similar.find((lead) => field(lead, 'domain') !== '') ?? {}, 'domain') ||
    `${plain(company)
      .replaceAll(/[^a-z\d]+/g, '-')
      .slice(0, 60)}.example`);

const namesOfActive = (programs: readonly JsonObject[]): readonly string[] =>
  programs.filter((p) => field(p, 'status') === 'active').map((p) => field(p, 'name'));
