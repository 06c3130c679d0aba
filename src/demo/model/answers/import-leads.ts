import type { Talk } from '../conversation.ts';
import { amount, callTools, rowIn, say, standingOf, type Call, type Reply } from '../reply.ts';
import { count, withoutAdvice } from '../wording.ts';
import { programIn } from '../words.ts';

/** Retries with every spelling it can find, until the error policy stops the run. */
export function importLeads(talk: Talk): Reply {
  const name = nameIn(talk.text);
  const spellings = [name, `${name} Program`, name.toUpperCase(), `prg_${name.toLowerCase()}`];
  const calls = spellings.map((program): Call => ({ name: 'search_leads', args: { program } }));
  let last = '';
  for (const [i, call] of calls.entries()) {
    const standing = standingOf(talk, call);
    if (standing.is === 'todo')
      return callTools(
        i === 0
          ? `Let me look for the leads of ${name}.`
          : `That failed. Perhaps it is called "${spellings[i]}".`,
        call,
      );
    if (standing.is === 'done')
      return say(
        `There is nothing to import: ${spellings[i]} is one of our programs and has ` +
          `${count(amount(rowIn(standing.value), 'total'), 'lead')}.`,
      );
    last = standing.said;
  }
  return say(`I give up: nothing was imported. ${withoutAdvice(last)}`);
}

const nameIn = (text: string): string =>
  programIn(text) ??
  /\bfrom (?:the )?["“']?([\p{L}\d][\p{L}\d -]{1,40})/u.exec(text)?.[1]?.trim() ??
  'Atlantis';
