import { AgentError } from '../errors/agent-error.ts';
import { isRecord, type JsonValue } from '../json.ts';

/** Texts longer than this are stored once, outside their row. */
export const LARGE_CHARACTERS = 8_192;

type Path = readonly (string | number)[];
/**
 * The path of an extracted value and the hash it is stored under; kind `json` if it was not a text. Rows of 0.1.0 do
 * not have the number of characters.
 */
type Reference = readonly [path: Path, hash: string, kind: 'text' | 'json', characters?: number];

/** Stores a large text and returns the name to find it by. */
export type KeepLarge = (text: string) => Promise<string>;

/** Returns the text of a row: JSON with large values extracted. A row without large values is plain JSON. */
export function packed(value: unknown, keep: KeepLarge): string | Promise<string> {
  const text = JSON.stringify(value);
  return text.length <= LARGE_CHARACTERS ? text : withoutLarge(text, keep);
}

async function withoutLarge(text: string, keep: KeepLarge): Promise<string> {
  const found: { readonly path: Path; readonly text: string; readonly kind: 'text' | 'json' }[] =
    [];
  const rest = takeOut(JSON.parse(text) as JsonValue, [], (path, large, kind) =>
    found.push({ path, text: large, kind }),
  );
  if (found.length === 0) return text;
  const refs: Reference[] = [];
  for (const { path, text: large, kind } of found)
    refs.push([path, await keep(large), kind, large.length]);
  return `@${JSON.stringify({ refs, value: rest })}`;
}

function takeOut(
  value: JsonValue,
  path: Path,
  found: (path: Path, text: string, kind: 'text' | 'json') => void,
): JsonValue {
  if (typeof value === 'string') {
    if (value.length <= LARGE_CHARACTERS) return value;
    found(path, value, 'text');
    return null;
  }
  if (Array.isArray(value))
    return value.map((item: JsonValue, i) => takeOut(item, [...path, i], found));
  if (!isRecord(value)) return value;
  const rest = Object.entries(value).map(([key, inner]): [string, JsonValue] => {
    const text = isResultValue(value, key) ? JSON.stringify(inner) : '';
    if (text.length <= LARGE_CHARACTERS) return [key, takeOut(inner, [...path, key], found)];
    // the tool message has the same text as its content, so it is stored once
    found([...path, key], text, 'json');
    return [key, null];
  });
  // not assigned one by one: an assignment to __proto__ does not create a key
  return Object.fromEntries(rest);
}

/** Whether the key holds the value of a tool result, in the result itself or in its event. */
const isResultValue = (holder: Record<string, unknown>, key: string): boolean =>
  typeof holder[key] === 'object' &&
  ((key === 'value' && 'callId' in holder) || (key === 'result' && 'toolCallId' in holder));

/** A row as read from the store, before its large values are filled in. */
export interface PackedRow {
  readonly refs: readonly Reference[];
  readonly value: unknown;
  /** Number of characters of its JSON, including large values; null if the row does not have it. */
  readonly characters: number | null;
}

export function readPacked(text: string): PackedRow {
  if (!text.startsWith('@'))
    return { refs: [], value: JSON.parse(text) as unknown, characters: text.length };
  const { refs, value } = JSON.parse(text.slice(1)) as Pick<PackedRow, 'refs' | 'value'>;
  let characters: number | null = text.length;
  for (const [, , , length] of refs)
    characters = characters === null || length === undefined ? null : characters + length;
  return { refs, value, characters };
}

export const hashesOf = (rows: readonly PackedRow[]): readonly string[] => [
  ...new Set(rows.flatMap(({ refs }) => refs.map(([, hash]) => hash))),
];

/** Fills the large values into a row. Calls `pause` between them. */
export async function filled(
  { refs, value }: PackedRow,
  large: ReadonlyMap<string, string>,
  pause: () => Promise<void> | undefined,
): Promise<unknown> {
  let whole = value;
  for (const [path, hash, kind] of refs) {
    const text = large.get(hash);
    if (text === undefined) throw missing(hash);
    whole = put(whole, path, kind === 'json' ? JSON.parse(text) : text);
    await pause();
  }
  return whole;
}

function put(into: unknown, path: Path, value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const holder = into as Record<string | number, unknown>; // the path was taken from this very value
  holder[key] = put(holder[key], rest, value);
  return into;
}

const missing = (hash: string): AgentError =>
  new AgentError(
    'invalid_state',
    `A large value of this session (${hash.slice(0, 12)}…) is not in the store any more. ` +
      'Delete rows only with runtime.delete() or prune(), never by hand.',
    { details: { hash } },
  );
