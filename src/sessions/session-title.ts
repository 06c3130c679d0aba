import type { Redactor } from '../errors/redactor.ts';
import type { JsonObject } from '../json.ts';
import { textOf } from '../messages/content-part.ts';
import type { MessageInput } from '../messages/message.ts';

const MOST_CHARACTERS = 80;
/** Characters of a message that are read, because it may be very long. */
const READ_CHARACTERS = 2_000;

/** Returns the title of a session from the first text of its user; undefined before that. */
export function titleOf(messages: Iterable<MessageInput>, redactor: Redactor): string | undefined {
  for (const { role, content, metadata } of messages) {
    // the loop also writes messages with the role user
    if (role !== 'user' || metadata?.['synthetic'] === true) continue;
    const title = lineOf(textOf(content), redactor);
    if (title !== '') return title;
  }
  return undefined;
}

/** Returns the title to show: the given one, otherwise the one from the first message. */
export function shownTitle(
  metadata: JsonObject,
  found: string | undefined,
  redactor: Redactor,
): string | null {
  const given = metadata['title'];
  const own = typeof given === 'string' ? lineOf(given, redactor) : '';
  return own || (found === undefined ? null : redactor.text(found));
}

/** Returns one line, truncated at a word. Redacts before truncating, because half a secret is not recognized as one. */
function lineOf(text: string, redactor: Redactor): string {
  const line = redactor.text(beginning(text)).replaceAll(/\s+/g, ' ').trim();
  const characters = [...line];
  if (characters.length <= MOST_CHARACTERS) return line;
  const kept = characters.slice(0, MOST_CHARACTERS - 1).join('');
  const word = kept.lastIndexOf(' ');
  return `${(word > MOST_CHARACTERS / 2 ? kept.slice(0, word) : kept).trimEnd()}…`;
}

/** Truncates between two words, because part of a word at the end could be half a secret. */
const beginning = (text: string): string =>
  text.length <= READ_CHARACTERS ? text : text.slice(0, READ_CHARACTERS).replace(/\s\S*$/, '');
