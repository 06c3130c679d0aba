import { isRecord, parseJson } from '../../json.ts';

/** The parts of an error body, whatever its shape. */
export interface ErrorBody {
  readonly message: string | null;
  /** Everything a provider may put its short word for the failure into, in one lower-case text. */
  readonly words: string;
  /** The status that the body tells, of its own. */
  readonly status: number | null;
  /** The object that holds details. */
  readonly error: Readonly<Record<string, unknown>>;
}

/** Long enough for any sentence; some servers send the whole request back. */
const LONGEST_MESSAGE = 2_000;

/** Where the sentence may lie, most telling first. */
const sentenceKeys = [
  'error',
  'message',
  'detail',
  'msg',
  'errors',
  'error_message',
  'error_msg',
  'error_description',
  'base_resp',
  'status_msg',
  'title',
] as const;

/** `error` as object, text or list, `detail`, a list of them, an HTML page, a bare line, or nothing at all. */
export function readErrorBody(json: unknown, raw: string): ErrorBody {
  const body = json === undefined ? eventIn(raw) : json;
  const first: unknown = Array.isArray(body) ? body[0] : body;
  if (!isRecord(first)) {
    const message = typeof first === 'string' ? first : plainText(raw);
    return { message: cut(message), words: '', status: null, error: {} };
  }
  const [choice] = Array.isArray(first['choices']) ? (first['choices'] as unknown[]) : [];
  const inChoice = isRecord(choice) ? choice['error'] : undefined;
  const told = first['error'] ?? inChoice;
  const error = isRecord(told) ? told : first;
  const status = [error, first, first['base_resp']].flatMap(statusesIn).find(isStatus);
  return {
    message: cut(sentenceIn(told) ?? sentenceIn(first)),
    words: [error, first].flatMap(wordsIn).join(' ').toLowerCase(),
    status: status ?? null,
    error,
  };
}

/** The JSON of a refusal that came in the framing of a stream. */
function eventIn(raw: string): unknown {
  const [, data = ''] = /(?:^|\n)data: ?(\{.*\})/.exec(raw) ?? [];
  const parsed = parseJson(data);
  return parsed.ok ? parsed.value : undefined;
}

function sentenceIn(value: unknown, depth = 0): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value;
  if (depth > 4 || typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value))
    return (
      value
        .map((item) => sentenceIn(item, depth + 1))
        .filter((text) => text !== null)
        .join('; ') || null
    );
  for (const key of sentenceKeys) {
    const text = sentenceIn((value as Record<string, unknown>)[key], depth + 1);
    if (text !== null) return text;
  }
  return null;
}

function wordsIn(place: Record<string, unknown>): string[] {
  const details = [place['details'], place['errors']].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  const { metadata } = place;
  return [
    place['code'],
    place['type'],
    place['status'],
    isRecord(metadata) ? metadata['error_type'] : null,
    ...details.map((detail) => (isRecord(detail) ? detail['reason'] : null)),
  ].filter((word) => typeof word === 'string');
}

const statusesIn = (place: unknown): number[] =>
  isRecord(place)
    ? ['status_code', 'statusCode', 'code', 'status'].map((key) => Number(place[key]))
    : [];

const isStatus = (value: number): boolean => Number.isInteger(value) && value >= 400 && value < 600;

/** An HTML page or a bare line, as one short sentence. */
function plainText(raw: string): string | null {
  // a tag ends at the next bracket of either kind, so that none is looked for twice
  const title = /<title[^<>]*>([^<]*)<\/title>/i.exec(raw)?.[1];
  const words = (title ?? raw.replaceAll(/<[^<>]*>/g, ' ')).replaceAll(/\s+/g, ' ').trim();
  return words === '' ? null : words.slice(0, 300);
}

const cut = (text: string | null): string | null =>
  text === null || text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE)}…`;
