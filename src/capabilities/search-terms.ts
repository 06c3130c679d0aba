/** Most characters of one text that are read, and most terms that it has. */
const MAX_CHARACTERS = 2_000;
const MAX_TERMS = 200;

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Scripts that are written without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Returns the words of a text in lower case, without plural endings: `createIssues` has `create` and `issue`. */
export function searchTerms(text: string): readonly string[] {
  const spaced = text
    .slice(0, MAX_CHARACTERS)
    .normalize('NFKC')
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2');
  const terms: string[] = [];
  for (const [word] of spaced.toLowerCase().matchAll(WORD)) {
    if (UNSPACED.test(word)) terms.push(...pairs(word));
    else terms.push(singular(word));
    if (terms.length >= MAX_TERMS) return terms.slice(0, MAX_TERMS);
  }
  return terms;
}

/** Returns each two neighboring characters, or the only one. */
function pairs(word: string): readonly string[] {
  const characters = [...word];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((next, i) => `${characters[i] ?? ''}${next}`);
}

function singular(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}
