import { leadStatuses } from '../data/leads.ts';
import { plain } from '../data/plain.ts';
import { programRows } from '../data/programs.ts';

/** Finds programs by name, or by the first word of it. */
export function programIn(text: string): string | null {
  const found = programRows.find(({ name }) => hasWord(text, name) || hasWord(text, first(name)));
  return found?.name ?? null;
}

/** Finds a word that names an unknown program: "leads of Foobar", "in the Foobar program". */
export function unknownProgramIn(text: string): string | null {
  const [, of, before] =
    /\b(?:of|in|from) (?:the )?(\p{Lu}[\p{L}\d-]{2,30})|\b(\p{Lu}[\p{L}\d-]{2,30}) program/u.exec(
      text,
    ) ?? [];
  return of ?? before ?? null;
}

export const leadIdsIn = (text: string): readonly string[] => [
  ...new Set(Array.from(text.matchAll(/\blead[_ -]?(\d{1,9})\b/gi), ([, id]) => `lead_${id}`)),
];

export const statusIn = (text: string): string | null =>
  leadStatuses.find((status) => hasWord(text, status)) ?? null;

export const domainIn = (text: string): string | null =>
  /\b[a-z\d][a-z\d-]{0,60}\.(?:example|com|eu|io|de|ch)\b/i.exec(text)?.[0].toLowerCase() ?? null;

/** Finds the named owner, such as "owned by Mara". */
export const ownerIn = (text: string): string | null => {
  if (/\b(?:without|no|missing) (?:an )?owner/i.test(text)) return 'unassigned';
  const owners = [...new Set(programRows.map(({ owner }) => owner))];
  return owners.find((owner) => hasWord(text, owner) || hasWord(text, first(owner))) ?? null;
};

export const hasWord = (text: string, word: string): boolean => {
  const at = text.toLowerCase().indexOf(word.toLowerCase());
  if (at < 0) return false;
  const around = `${text[at - 1] ?? ' '}${text[at + word.length] ?? ' '}`;
  return !/[\p{L}\d_]/u.test(around);
};

const first = (name: string): string => name.split(' ')[0] ?? name;

/** Returns a key that is equal for all spellings of one company: no legal form, no accents, no plural. */
export const nameKey = (company: string): string =>
  plain(company)
    .replaceAll(/[^\w ]/g, '')
    .replace(/ (?:ag|gmbh|ab|as|oy|sia|uab|ou|sl|lda|sas|nv|ltd|sa|doo)$/, '')
    .replaceAll(/s\b/g, '')
    .trim();
