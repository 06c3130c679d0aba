import { isRecord, parseJson } from '../json.ts';

/** A stop request: the reason, the requester and the time. */
export interface StopNote {
  readonly reason: string;
  readonly by: string | null;
  readonly at: string | null;
}

/** Separator that never occurs in a reason: it is replaced there. */
const SEPARATOR = '\u001f';

/**
 * Encodes a stop request as the one text that a store keeps. A worker of an earlier release shows all of it as the
 * reason.
 */
export const stopText = ({ reason, by, at }: StopNote): string =>
  `${reason.replaceAll(SEPARATOR, ' ')}${SEPARATOR}${JSON.stringify({ by, at })}`;

/** Decodes that text, or the bare reason that an earlier release wrote. */
export function stopNote(text: string): StopNote {
  const cut = text.indexOf(SEPARATOR);
  if (cut < 0) return { reason: text, by: null, at: null };
  const parsed = parseJson(text.slice(cut + 1));
  const { by, at } = parsed.ok && isRecord(parsed.value) ? parsed.value : {};
  return { reason: text.slice(0, cut), by: textOf(by), at: textOf(at) };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
