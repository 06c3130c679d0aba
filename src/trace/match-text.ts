/** Where a word of a search is in a session. */
export type MatchPlace =
  | 'title'
  | 'agent'
  | 'id'
  | 'reason'
  | 'error'
  | 'message'
  | 'answer'
  | 'tool'
  | 'tool_result'
  | 'tool_error';

/** A part of a text that matches, with what is around it. */
export interface Excerpt {
  readonly text: string;
  /** Begin and end of each matching word in `text`, in order. */
  readonly ranges: readonly (readonly [from: number, to: number])[];
}

const AROUND = 60;
const MOST_RANGES = 20;

/** Removes case and accents: "muller" matches "Müller". */
export const plainText = (text: string): string =>
  text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();

export const wordsOf = (search: string): readonly string[] =>
  plainText(search).split(/\s+/).filter(Boolean);

/** Returns the part of a text with the first of these words, in one line; null if it has none of them. */
export function excerptOf(text: string, words: readonly string[]): Excerpt | null {
  const { plain, places } = aligned(text);
  const first = words.reduce((least, word) => {
    const at = plain.indexOf(word);
    return at === -1 ? least : Math.min(least, at);
  }, Infinity);
  if (first === Infinity) return null;
  const from = Math.max(0, first - AROUND);
  const to = Math.min(plain.length, first + AROUND * 2);
  const start = boundary(text, places[from] ?? 0);
  const end = boundary(text, places[to] ?? text.length);
  const ranges: [number, number][] = [];
  for (const word of words)
    for (let at = plain.indexOf(word, from); at !== -1 && at + word.length <= to;) {
      ranges.push([(places[at] ?? 0) - start, (places[at + word.length] ?? text.length) - start]);
      at = plain.indexOf(word, at + word.length);
      if (ranges.length >= MOST_RANGES) break;
    }
  const [lead, trail] = [start > 0 ? '…' : '', end < text.length ? '…' : ''];
  return {
    // one character for another, so that the ranges stay
    text: `${lead}${text.slice(start, end).replaceAll(/\s/g, ' ')}${trail}`,
    ranges: merged(ranges).map(([a, b]) => [a + lead.length, b + lead.length]),
  };
}

/** Moves a place in front of the second half of a character. */
const boundary = (text: string, at: number): number =>
  /[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at - 1 : at;

/** Returns the plain text, and for each of its characters the place in the text. */
function aligned(text: string): { readonly plain: string; readonly places: readonly number[] } {
  let plain = '';
  const places: number[] = [];
  let at = 0;
  for (const char of text) {
    const one = plainText(char);
    for (let i = 0; i < one.length; i++) places.push(at);
    plain += one;
    at += char.length;
  }
  places.push(at);
  return { plain, places };
}

/** Sorts ranges, and joins those that overlap. */
function merged(ranges: readonly (readonly [number, number])[]): readonly [number, number][] {
  const joined: [number, number][] = [];
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = joined.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}
