import { excerpt } from '../../errors/excerpt.ts';
import { isRecord, parseJson } from '../../json.ts';

/** The parts of an error body of any shape. */
export interface ErrorBody {
  readonly message: string | null;
  /** All short codes of the failure in one lower-case text. */
  readonly words: string;
  /** The status in the body itself. */
  readonly status: number | null;
  /** The id of the request in the body itself: Anthropic. */
  readonly requestId?: string;
  /** The object with details. */
  readonly error: Readonly<Record<string, unknown>>;
}

/** Maximum characters of a message; some servers send the whole request back. */
const MAX_MESSAGE = 2_000;

/** Fields that may contain the message, most specific first. */
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

/** Reads `error` as object, text or list, `detail`, a list of them, an HTML page, a bare line, or nothing. */
export function readErrorBody(json: unknown, raw: string): ErrorBody {
  const body = json === undefined ? eventIn(raw) : json;
  const first: unknown = Array.isArray(body) ? body[0] : body;
  if (!isRecord(first)) {
    const message = typeof first === 'string' ? first : plainText(raw);
    return { message: cut(message), words: '', status: null, error: {} };
  }
  const [choice] = Array.isArray(first['choices']) ? (first['choices'] as unknown[]) : [];
  const inChoice = isRecord(choice) ? choice['error'] : undefined;
  const reported = first['error'] ?? inChoice;
  const error = isRecord(reported) ? reported : first;
  const id = first['request_id'];
  const status = [error, first, first['base_resp']].flatMap(statusesIn).find(isStatus);
  return {
    message: cut(sentenceIn(reported) ?? sentenceIn(first)),
    words: [error, first].flatMap(wordsIn).join(' ').toLowerCase(),
    status: status ?? null,
    ...(typeof id === 'string' && id !== '' ? { requestId: id } : null),
    error,
  };
}

/** Returns the JSON of a refusal that is framed as a stream. */
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

function wordsIn(container: Record<string, unknown>): string[] {
  const details = [container['details'], container['errors']].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  const { metadata } = container;
  return [
    container['code'],
    container['type'],
    container['status'],
    isRecord(metadata) ? metadata['error_type'] : null,
    ...details.map((detail) => (isRecord(detail) ? detail['reason'] : null)),
  ].filter((word) => typeof word === 'string');
}

const statusesIn = (container: unknown): number[] =>
  isRecord(container)
    ? ['status_code', 'statusCode', 'code', 'status'].map((key) => Number(container[key]))
    : [];

const isStatus = (value: number): boolean => Number.isInteger(value) && value >= 400 && value < 600;

/** Shortens an HTML page or a bare line to one sentence. */
function plainText(raw: string): string | null {
  // a tag ends at the next bracket of either kind, so that none is searched twice
  const title = /<title[^<>]*>([^<]*)<\/title>/i.exec(raw)?.[1];
  const words = (title ?? raw.replaceAll(/<[^<>]*>/g, ' ')).replaceAll(/\s+/g, ' ').trim();
  return words === '' ? null : excerpt(words, 300);
}

const cut = (text: string | null): string | null =>
  text === null ? null : excerpt(text, MAX_MESSAGE);
