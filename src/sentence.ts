/** Words of others as part of a sentence. By hand: a pattern for this takes for ever on a long row of blanks. */
export function withoutFullStop(text: string): string {
  let end = text.length;
  while (end > 0 && '. \n\r\t'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Words of others as the end of a sentence, which ends once: with the mark that they have, else with a full stop. */
export function sentence(text: string): string {
  const words = withoutFullStop(text);
  return words === '' || '!?…。！？'.includes(words.charAt(words.length - 1)) ? words : `${words}.`;
}
