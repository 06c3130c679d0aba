import { isRecord, type JsonValue } from '../json.ts';
import type { SentMessage } from './cassette.ts';

interface DiffedRequest {
  readonly definition: JsonValue;
  readonly messages: readonly SentMessage[];
}

/** Most differences that are shown. */
const MOST_LINES = 8;
const MOST_CHARACTERS = 200;

/** Writes what differs between a recorded request and another one, a line for each place. */
export function requestDiff(recorded: DiffedRequest, asked: DiffedRequest): string {
  const lines: string[] = [];
  compare('', recorded.definition, asked.definition, lines);
  compare('messages', recorded.messages, asked.messages, lines);
  const more = lines.length - MOST_LINES;
  return [
    ...lines.slice(0, MOST_LINES),
    ...(more > 0 ? [`  … and ${more} more`] : []),
    ...(lines.length === 0 ? ['  nothing: it was asked for more often than it was recorded'] : []),
  ].join('\n');
}

function compare(
  path: string,
  recorded: JsonValue | undefined,
  asked: JsonValue | undefined,
  lines: string[],
): void {
  if (lines.length > 4 * MOST_LINES || recorded === asked) return;
  if (Array.isArray(recorded) && Array.isArray(asked)) {
    const length = Math.max(recorded.length, asked.length);
    for (let i = 0; i < length; i += 1)
      compare(`${path}[${i}]`, recorded[i] as JsonValue, asked[i] as JsonValue, lines);
    return;
  }
  if (isRecord(recorded) && isRecord(asked)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(asked)]))
      compare(path === '' ? key : `${path}.${key}`, recorded[key], asked[key], lines);
    return;
  }
  const [before, after] = aroundDifference(shown(recorded), shown(asked));
  lines.push(`  ${path}: recorded ${before}, asked ${after}`);
}

const shown = (value: JsonValue | undefined): string =>
  value === undefined ? 'nothing' : JSON.stringify(value);

/** Shortens two texts to the part around their first difference. */
function aroundDifference(a: string, b: string): readonly [string, string] {
  if (a.length <= MOST_CHARACTERS && b.length <= MOST_CHARACTERS) return [a, b];
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  const from = Math.max(0, at - 40);
  const part = (text: string): string =>
    `${from > 0 ? '…' : ''}${text.slice(from, from + MOST_CHARACTERS)}${text.length > from + MOST_CHARACTERS ? '…' : ''}`;
  return [part(a), part(b)];
}
