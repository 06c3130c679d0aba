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
import { count, euros, leadLine, lines, withoutAdvice } from '../wording.ts';
import { ownerIn, programIn, statusIn, unknownProgramIn } from '../words.ts';

/** Finds leads by program, status, owner, age or a part of the name. */
export function leads(talk: Talk): Reply {
  const call: Call = { name: 'search_leads', args: argsOf(talk.text) };
  const standing = standingOf(talk, call);
  if (standing.is === 'todo') return callTools('Let me search the leads.', call);
  if (standing.is !== 'done') return say(withoutAdvice(`That did not work: ${standing.said}`));
  const found = listIn(standing.value, 'leads');
  const total = amount(rowIn(standing.value), 'total');
  const what = whatOf(call.args);
  if (total === 0) return say(`There is no lead${what}.`);
  const worth = euros(found.reduce((sum, lead) => sum + amount(lead, 'value'), 0));
  const head =
    total > found.length
      ? `${count(total, 'lead')}${what}. The first ${found.length}, worth ${worth}:`
      : `${count(total, 'lead')}${what}, worth ${worth}:`;
  return say(`${head}\n${lines(found.map(leadLine))}`);
}

function argsOf(text: string): JsonObject {
  const quoted = /["“']([^"”']{2,60})["”']/.exec(text)?.[1];
  const named = /\b(?:named|called|about|for|like) (\p{Lu}[\p{L}\d&.-]{2,40})/u.exec(text)?.[1];
  const owner = ownerIn(text);
  const program =
    programIn(text) ?? (quoted !== undefined || owner !== null ? null : unknownProgramIn(text));
  const days = /\b(\d{1,4}) days?\b/i.exec(text)?.[1];
  const months = /\b(\d{1,3}) months?\b/i.exec(text)?.[1];
  const idle = days ? Number(days) : months ? Number(months) * 30 : null;
  const status = statusIn(text);
  const part = quoted ?? (program === null && owner === null ? named : undefined);
  return {
    ...(part && { text: part }),
    ...(program && { program }),
    ...(status && { status }),
    ...(owner && { owner }),
    ...(idle !== null && { idle_days: idle }),
    ...(/\ball\b|\bevery\b/i.test(text) && { limit: 100 }),
  };
}

function whatOf(args: JsonObject): string {
  const part = (name: string, before: string): string =>
    args[name] === undefined ? '' : `${before}${field(args, name)}`;
  return (
    part('status', ' with status ') +
    part('program', ' in ') +
    part('owner', ' of ') +
    part('text', ' that match ') +
    (args['idle_days'] === undefined
      ? ''
      : ` without activity for ${field(args, 'idle_days')} days`)
  );
}
