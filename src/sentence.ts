/** Removes periods and blanks at the end of a text. A regular expression would be slow on many blanks. */
export function withoutFullStop(text: string): string {
  let end = text.length;
  while (end > 0 && '. \n\r\t'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Joins parts of a sentence: "a", "a and b", "a, b and c". */
export const listText = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;

/** Ends a text as a sentence, once: with its own mark, else with a period. */
export function sentence(text: string): string {
  const words = withoutFullStop(text);
  return words === '' || '!?…。！？'.includes(words.charAt(words.length - 1)) ? words : `${words}.`;
}
