import { say, type Reply } from '../reply.ts';
import { lines } from '../wording.ts';

const abilities = lines([
  'Which programs renew this quarter? Show gold programs in DACH.',
  'Show new leads in Alpine. Find duplicates. Show lead_2101. Assign lead_2108 to Mara Lindqvist.',
  'Add a lead for Helvetia Robotics. Add a lead for Tatra Steel to Baltic without an owner.',
  'Clean up inactive Alpine leads. Delete lead_2207.',
  'Enrich every lead of the Baltic program. Look up tajo-maritima.example (slow the first time).',
  'Show the full Nordlicht report. Import the leads from Atlantis (fails).',
  'Add "and act busy" to anything, and the first model call is refused with 429.',
]);

const realModel =
  'For a real model, set OPENAI_API_KEY and start again, or name one in onward.config.ts. The tools and the data stay the same.';

export const hello = (): Reply =>
  say(
    `Hello! I am the demo model: a few rules in place of a language model, with real tools over a real data set. Try:\n${abilities}\n\n${realModel}`,
  );

export const unknown = (): Reply =>
  say(
    `I am the demo model and did not understand that: I go by simple rules. I can do things like these:\n${abilities}\n\n${realModel}`,
  );

export const thanks = (): Reply => say('You are welcome.');

export const yesToWhat = (): Reply =>
  say(
    'I had not offered anything. Tell me what to do, or say "help" to see what the demo model can do.',
  );

export const leftAlone = (): Reply => say('All right, I leave it as it is.');

export const wasBusy = (): Reply =>
  say(
    'My first call was refused with 429, as you asked. The trace shows the wait before the second.',
  );
