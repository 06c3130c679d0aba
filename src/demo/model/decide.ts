import type { InferenceRequest } from '../../inference/inference-driver.ts';
import { addLead } from './answers/add-lead.ts';
import { deleteLeads } from './answers/delete-leads.ts';
import { duplicates } from './answers/duplicates.ts';
import { enrich } from './answers/enrich.ts';
import { importLeads } from './answers/import-leads.ts';
import { leads } from './answers/leads.ts';
import { changeLead, showLead, wantsChange } from './answers/one-lead.ts';
import { programs } from './answers/programs.ts';
import { report } from './answers/report.ts';
import { hello, leftAlone, thanks, unknown, wasBusy, yesToWhat } from './answers/small-talk.ts';
import { readTurns, type Talk } from './conversation.ts';
import { inFull, isYes } from './follow-ups.ts';
import { say, type Reply } from './reply.ts';
import { count, lines } from './wording.ts';
import { domainIn, leadIdsIn, programIn } from './words.ts';

type Rule = readonly [fits: (text: string) => boolean, reply: (talk: Talk) => Reply];

const has =
  (...patterns: readonly RegExp[]) =>
  (text: string): boolean =>
    patterns.every((pattern) => pattern.test(text));

const busyWords = /(?:,? ?\b(?:and|but|please))? ?\bact busy\b[.!]?/i;

/** Whether the user wants to see how the run waits after a refused model call. */
export const wantsBusy = (text: string): boolean => busyWords.test(text);

/** The first matching answer. The user's text selects it; tool results select its next reply. */
const rules: readonly Rule[] = [
  [has(/^\W*$/), unknown],
  [has(/^\W*(?:hi|hello|hey|good (?:morning|day|evening)|help|hallo)\b.{0,20}$/i), hello],
  [has(/\b(?:what can you do|who are you|how do you work)\b/i), hello],
  [has(/^\W*(?:many )?(?:thanks|thank you|thx|great|perfect|nice)\b.{0,30}$/i), thanks],
  [has(/^\W*(?:no|nope|nein|never mind|leave it)\b.{0,20}$/i), leftAlone],
  [isYes, yesToWhat],
  [has(/\bimport\b/i), importLeads],
  [has(/\b(?:duplicates|same compan|twice)/i), duplicates],
  [
    has(/\b(?:delete|remove|clean ?up|tidy)\b/i, /\blead|\bprogram|\binactive|\bclean/i),
    deleteLeads,
  ],
  [
    has(/\b(?:add|create)\b|^\W*new\b/i, /\blead (?:for|from|of|named|called)\b|\badd .*\blead\b/i),
    addLead,
  ],
  [
    (text) => has(/\b(?:enrich|look ?up|fill in|company data)\b/i)(text) || domainIn(text) !== null,
    enrich,
  ],
  [has(/\breport\b/i), report],
  [wantsChange, changeLead],
  [(text) => leadIdsIn(text).length > 0, showLead],
  [has(/\bleads?\b/i), leads],
  [has(/\bprograms?\b|\brenew/i), programs],
  [(text) => text.length < 60 && programIn(text) !== null, programs],
];

/** Decides the next reply from the conversation only. */
export function decide({ messages, toolChoice, tools }: InferenceRequest): Reply {
  const { talk: read, past } = readTurns(messages);
  const isBusy = wantsBusy(read.text);
  const text = inFull(read.text.replace(busyWords, ' ').trim(), past);
  const talk: Talk = { ...read, text };
  const rule = rules.find(([fits]) => fits(text));
  const reply = isBusy && text === '' ? wasBusy() : (rule?.[1] ?? unknown)(talk);
  const offered = new Set(tools.map(({ name }) => name));
  const mayCall = toolChoice !== 'none' && reply.calls.every(({ name }) => offered.has(name));
  return labeled(talk, mayCall || reply.calls.length === 0 ? reply : withoutTools(talk));
}

/** Answers with what is known so far, because tools are no longer allowed. */
function withoutTools({ outcomes }: Talk): Reply {
  const done = outcomes.filter(({ kind }) => kind === 'ok');
  if (done.length === 0)
    return say('I may not use tools now, and without them I know nothing about it.');
  const tools = [...new Set(done.map(({ tool }) => tool))];
  const told = tools.map(
    (tool) => `${tool}: ${count(done.filter((o) => o.tool === tool).length, 'time')}`,
  );
  return say(
    `I may not use more tools, so this is as far as I got. What worked so far:\n${lines(told)}\n\nSay "continue" to resume.`,
  );
}

const LABEL = '(From the demo model: simple rules, but the tools and the numbers are real.)';

/** Adds the demo label in the first turn. */
function labeled({ isFirstTurn, outcomes }: Talk, reply: Reply): Reply {
  if (!isFirstTurn || /demo model/i.test(reply.text)) return reply;
  if (reply.calls.length === 0) return { ...reply, text: `${reply.text}\n\n${LABEL}` };
  return outcomes.length === 0 ? { ...reply, text: `Demo model here. ${reply.text}` } : reply;
}
