import { isRecord, parseJson } from '../json.ts';

/** A request to stop: why, who asked and when. */
export interface StopNote {
  readonly reason: string;
  readonly by: string | null;
  readonly at: string | null;
}

/** Never part of a reason: control characters are taken out of those. */
const SEPARATOR = '\u001f';

/** The one text that a store keeps of the request. A worker of an earlier release shows all of it as the reason. */
export const stopText = ({ reason, by, at }: StopNote): string =>
  `${reason.replaceAll(SEPARATOR, ' ')}${SEPARATOR}${JSON.stringify({ by, at })}`;

/** Reads that text, and the bare reason that an earlier release wrote. */
export function stopNote(text: string): StopNote {
  const cut = text.indexOf(SEPARATOR);
  if (cut < 0) return { reason: text, by: null, at: null };
  const parsed = parseJson(text.slice(cut + 1));
  const { by, at } = parsed.ok && isRecord(parsed.value) ? parsed.value : {};
  return { reason: text.slice(0, cut), by: textOf(by), at: textOf(at) };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
