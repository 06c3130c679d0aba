import { outcomesIn, type Past } from './conversation.ts';
import { field, listIn } from './reply.ts';
import { leadIdsIn } from './words.ts';

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth'];

const itemNumber =
  /\bthe (?:(first|second|third|fourth|fifth|sixth|seventh|eighth|last)(?: one| lead)?|(\d{1,2})(?:st|nd|rd|th)?(?: one| lead)?)\b|\b(?:number|no\.?|#) ?(\d{1,2})\b/i;
const pointer = /\b(?:it|that one|this one|that lead|this lead)\b/i;
const yes =
  /^\W*(?:yes|yep|yeah|sure|ok|okay|please do|do it|go ahead|ja|oui|si)\b(?: please| do it| go ahead)?[^a-z]*$/i;

export const isYes = (text: string): boolean => yes.test(text);

/** Completes a follow-up: "yes" becomes what was offered, "the second one" becomes its id. */
export function inFull(text: string, past: Past): string {
  const { lastAnswer } = past;
  const offered = /Shall I ([^?]{1,200})\?\s*$/.exec(withoutLabel(lastAnswer))?.[1];
  if (offered !== undefined && isYes(text)) return offered;
  const company = /Which program should (.{1,120}) go to\?/.exec(lastAnswer)?.[1];
  if (company !== undefined && text.length < 60 && !/\blead|\?/i.test(text))
    return `add a lead for ${company} to ${text}`;
  const chosen = itemNumber.exec(text);
  if (chosen) {
    const id = nthOf(past, chosen);
    if (id !== null) return withVerb(text.replace(chosen[0], id), id);
  }
  const [only, ...others] = leadIdsIn(lastAnswer);
  if (only !== undefined && others.length === 0 && leadIdsIn(text).length === 0)
    return text.replace(pointer, only);
  return text;
}

/** Removes the label, which follows the question of the first answer. */
const withoutLabel = (answer: string): string => answer.replace(/\n\n\([^()]*\)\s*$/, '');

/** Adds a verb: a choice without one means "show". */
const withVerb = (text: string, id: string): string =>
  text.replaceAll(/[^\w]/g, '') === id ? `show ${id}` : text;

/** Returns an item of the newest list of leads or programs. */
function nthOf({ messages }: Past, [, word, digits, numbered]: RegExpExecArray): string | null {
  const newest = outcomesIn(messages).findLast(
    ({ tool, kind }) => kind === 'ok' && (tool === 'search_leads' || tool === 'search_programs'),
  );
  if (!newest) return null;
  const leads = listIn(newest.value, 'leads');
  const programs = listIn(newest.value, 'programs');
  const ids =
    leads.length > 0
      ? leads.map((lead) => field(lead, 'id'))
      : programs.map((program) => `the leads of ${field(program, 'name')}`);
  const n = digits ?? numbered;
  const index = n === undefined ? ordinals.indexOf(word?.toLowerCase() ?? '') : Number(n) - 1;
  return (word?.toLowerCase() === 'last' ? ids.at(-1) : ids[index]) ?? null;
}
