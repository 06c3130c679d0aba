import type { Redactor } from '../errors/redactor.ts';
import type { JsonObject } from '../json.ts';
import { textOf } from '../messages/content-part.ts';
import type { MessageInput } from '../messages/message.ts';

const MOST_CHARACTERS = 80;
/** A first message may be a book. */
const READ_CHARACTERS = 2_000;

/** The title of a session, from the first text of its user; undefined before that. */
export function titleOf(messages: Iterable<MessageInput>, redactor: Redactor): string | undefined {
  for (const { role, content, metadata } of messages) {
    // the loop also speaks as the user
    if (role !== 'user' || metadata?.['synthetic'] === true) continue;
    const title = lineOf(textOf(content), redactor);
    if (title !== '') return title;
  }
  return undefined;
}

/** The title that people see: the one they gave, else the one that was found. */
export function shownTitle(
  metadata: JsonObject,
  found: string | undefined,
  redactor: Redactor,
): string | null {
  const given = metadata['title'];
  const own = typeof given === 'string' ? lineOf(given, redactor) : '';
  return own || (found === undefined ? null : redactor.text(found));
}

/** One line, cut at a word. Redacted before it is cut: half a secret is not recognized as one. */
function lineOf(text: string, redactor: Redactor): string {
  const line = redactor.text(beginning(text)).replaceAll(/\s+/g, ' ').trim();
  const characters = [...line];
  if (characters.length <= MOST_CHARACTERS) return line;
  const kept = characters.slice(0, MOST_CHARACTERS - 1).join('');
  const word = kept.lastIndexOf(' ');
  return `${(word > MOST_CHARACTERS / 2 ? kept.slice(0, word) : kept).trimEnd()}…`;
}

/** Ends between two words: what is left of a word at the end could be half a secret too. */
const beginning = (text: string): string =>
  text.length <= READ_CHARACTERS ? text : text.slice(0, READ_CHARACTERS).replace(/\s\S*$/, '');
