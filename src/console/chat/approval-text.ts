import { isRecord } from '../../json.ts';

/** Returns "Delete lead_1874?" in parts, so that the value can be highlighted. Uses only the call's name and arguments. */
export interface Question {
  readonly ask: string;
  readonly what: string | null;
}

/** Names of arguments that identify the subject of a call, best first. */
const telling = ['id', 'name', 'title', 'email', 'domain', 'path', 'url', 'query', 'subject', 'to'];
const longest = 48;

export function questionOf(tool: string, args: unknown): Question {
  const words = wordsOf(tool);
  const [verb = 'Run', ...things] = words;
  const what = isRecord(args) ? subjectOf(args, things) : null;
  const start = `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`;
  // "lead_1874" already says that it is a lead
  const noun = things.at(-1)?.toLowerCase();
  const isSaid = what !== null && noun !== undefined && what.toLowerCase().startsWith(noun);
  return { ask: [start, ...(isSaid ? [] : things)].join(' '), what };
}

export const questionText = ({ ask, what }: Question): string =>
  what === null ? `${ask}?` : `${ask} ${what}?`;

/** Splits `delete_lead`, `deleteLead` and `crm.delete-lead` into words. */
const wordsOf = (tool: string): readonly string[] =>
  (tool.split(/[./:]/).at(-1) ?? tool)
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .split(/[\s_-]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());

function subjectOf(
  args: Readonly<Record<string, unknown>>,
  things: readonly string[],
): string | null {
  const noun = things.join('_');
  const last = things.at(-1) ?? '';
  const names = [
    ...telling.slice(0, 1),
    `${noun}_id`,
    `${last}_id`,
    `${last}Id`,
    noun,
    last,
    ...telling,
  ];
  for (const name of names) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (typeof value === 'number') return String(value);
    if (typeof value === 'string' && value.trim() !== '' && value.length <= longest) return value;
  }
  return null;
}
