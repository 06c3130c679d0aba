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
import { companyFacts, count, withoutAdvice, lines } from '../wording.ts';
import { domainIn, leadIdsIn, programIn, unknownProgramIn } from '../words.ts';

/** Concurrent requests that the directory accepts. */
const MAX_CONCURRENT = 3;

/** Looks up company data: for a whole program, for one lead, or for a domain. */
export function enrich(talk: Talk): Reply {
  const { text } = talk;
  const domain = domainIn(text);
  if (domain !== null) return lookUp(talk, domain, null);
  const [id] = leadIdsIn(text);
  if (id !== undefined) return enrichOne(talk, { name: 'get_lead', args: { id } });
  const program = programIn(text) ?? unknownProgramIn(text);
  if (program !== null && /\b(?:every|all|each|leads)\b/i.test(text))
    return enrichAll(talk, program);
  const name = /\b(?:enrich|look up|lookup)\s+(?:the )?(?:company )?(.{3,80})/i.exec(text)?.[1];
  return name === undefined
    ? say('Tell me what to look up: a domain, a lead, or every lead of a program.')
    : enrichOne(talk, { name: 'search_leads', args: { text: name.trim(), limit: 1 } });
}

function enrichOne(talk: Talk, read: Call): Reply {
  const found = standingOf(talk, read);
  if (found.is === 'todo') return callTools('Let me find its domain.', read);
  if (found.is !== 'done') return say(withoutAdvice(found.said));
  const lead = listIn(found.value, 'leads')[0] ?? rowIn(found.value);
  const domain = field(lead, 'domain');
  return domain === ''
    ? say('I found no lead of that name, and so no domain to look up.')
    : lookUp(talk, domain, lead);
}

function lookUp(talk: Talk, domain: string, lead: JsonObject | null): Reply {
  const call: Call = { name: 'enrich_company', args: { domain } };
  const asked = standingOf(talk, call);
  if (asked.is === 'todo')
    return callTools(
      asked.tries === 0 ? `Asking the directory about ${domain}.` : 'No answer. Trying again.',
      call,
    );
  if (asked.is !== 'done') return say(withoutAdvice(asked.said));
  const company = rowIn(asked.value);
  const facts = `${field(company, 'name')}: ${companyFacts(company)}`;
  const tries = asked.tries > 1 ? ` The directory answered on try ${asked.tries}.` : '';
  if (lead === null) return say(`${facts}.${tries}`);
  const change = changeOf(lead, company);
  const changed = standingOf(talk, change);
  if (changed.is === 'todo') return callTools(`Writing it into ${field(lead, 'id')}.`, change);
  return changed.is === 'done'
    ? say(`${field(lead, 'id')} is filled in. ${facts}.${tries}`)
    : say(withoutAdvice(`${facts}. I could not write it down: ${changed.said}`));
}

/** Looks up the next companies while it stores the last ones. */
function enrichAll(talk: Talk, program: string): Reply {
  const search: Call = { name: 'search_leads', args: { program, limit: 100 } };
  const found = standingOf(talk, search);
  if (found.is === 'todo') return callTools(`Let me collect the leads of ${program}.`, search);
  if (found.is !== 'done') return say(withoutAdvice(found.said));
  const leads = listIn(found.value, 'leads').filter((lead) => field(lead, 'domain') !== '');
  const lookups: Call[] = [];
  const changes: Call[] = [];
  const failed: string[] = [];
  const done: string[] = [];
  for (const lead of leads) {
    const lookup: Call = { name: 'enrich_company', args: { domain: field(lead, 'domain') } };
    const asked = standingOf(talk, lookup);
    if (asked.is === 'todo') lookups.push(lookup);
    else if (asked.is !== 'done')
      failed.push(`${field(lead, 'company')}: ${withoutAdvice(asked.said)}`);
    else {
      const change = changeOf(lead, rowIn(asked.value));
      const changed = standingOf(talk, change);
      if (changed.is === 'todo') changes.push(change);
      else if (changed.is === 'done') done.push(field(lead, 'company'));
      else failed.push(`${field(lead, 'company')}: ${withoutAdvice(changed.said)}`);
    }
  }
  const next = lookups.slice(0, MAX_CONCURRENT);
  if (next.length + changes.length > 0)
    return callTools(
      done.length === 0 && changes.length === 0
        ? `${count(leads.length, 'lead')}. I look them up ${MAX_CONCURRENT} at a time.`
        : `${leads.length - lookups.length - failed.length} of ${leads.length} looked up.`,
      ...changes,
      ...next,
    );
  const rest = failed.length === 0 ? '' : `\n\nNot found:\n${lines(failed)}`;
  return say(
    `${done.length} of ${count(leads.length, 'lead')} in ${program} have company data now.${rest}`,
  );
}

const changeOf = (lead: JsonObject, company: JsonObject): Call => ({
  name: 'update_lead',
  args: {
    id: field(lead, 'id'),
    employees: company['employees'] ?? 0,
    city: field(company, 'city'),
    industry: field(company, 'industry'),
  },
});
