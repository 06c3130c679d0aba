import type { JsonObject } from '../../../json.ts';
import { programRows, programStatuses, tiers } from '../../data/programs.ts';
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
import { count, day, euros, withoutAdvice, lines } from '../wording.ts';
import { hasWord, ownerIn, programIn } from '../words.ts';

const regions = [...new Set(programRows.map(({ region }) => region))];

/** Finds programs by renewal, tier, region, status or name. */
export function programs(talk: Talk): Reply {
  const args = argsOf(talk.text);
  const call: Call = { name: 'search_programs', args };
  const standing = standingOf(talk, call);
  if (standing.is === 'todo') return callTools(lookingFor(args), call);
  if (standing.is !== 'done') return say(withoutAdvice(`I could not search: ${standing.said}`));
  const found = listIn(standing.value, 'programs');
  const head = headOf(found.length, args, rowIn(standing.value));
  if (found.length === 0) return say(`${head}.`);
  const budget = found.reduce((sum, program) => sum + amount(program, 'budget'), 0);
  return say(
    `${head}:\n${lines(found.map(line))}\n\n${found.length === 1 ? 'Its yearly budget is' : 'Their yearly budgets come to'} ${euros(budget)}. ` +
      `Shall I show the leads of ${field(found[0] ?? {}, 'name')}?`,
  );
}

function argsOf(text: string): JsonObject {
  const named = programIn(text);
  if (named !== null) return { text: named };
  const renews = /next quarter/i.test(text)
    ? 'next_quarter'
    : /quarter/i.test(text)
      ? 'this_quarter'
      : /this year/i.test(text)
        ? 'this_year'
        : null;
  const tier = tiers.find((word) => hasWord(text, word));
  const status = programStatuses.find((word) => hasWord(text, word));
  const region = regions.find((word) => hasWord(text, word));
  const owner = ownerIn(text);
  return {
    ...(renews && { renews }),
    ...(tier && { tier }),
    ...(status && { status }),
    ...(region && { region }),
    ...(owner && owner !== 'unassigned' && { text: owner }),
  };
}

const lookingFor = (args: JsonObject): string =>
  args['renews'] === undefined ? 'Let me look at the programs.' : 'Let me check the renewal dates.';

/** Returns `4 programs renew this quarter, until 31 December 2026`. */
function headOf(found: number, args: JsonObject, value: JsonObject): string {
  const details = ['tier', 'status', 'region', 'text'].map((name) => field(args, name));
  const told = details.filter((detail) => detail !== '').join(', ');
  const until = field(value, 'to');
  const verb =
    until === '' ? (told === '' ? ' in all' : ' found') : found === 1 ? ' renews' : ' renew';
  const range =
    until === '' ? '' : ` ${field(args, 'renews').replace('_', ' ')}, until ${day(until)}`;
  return count(found, 'program') + verb + range + (told === '' ? '' : ` (${told})`);
}

const line = (program: JsonObject): string =>
  `${field(program, 'name')} (${field(program, 'tier')}, ${field(program, 'region')}, ${field(program, 'status')}): renews ` +
  `${day(field(program, 'renews_on'))}, ${euros(amount(program, 'budget'))}, ${field(program, 'owner')}, ` +
  count(amount(program, 'leads'), 'lead');
