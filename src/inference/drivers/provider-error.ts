import type { ErrorReport } from '../../errors/error-record.ts';
import { isRecord, parseJson } from '../../json.ts';
import { retryAfterMs, type HeaderMap } from './retry-after.ts';

/** What a provider's refusal comes down to; the `code` of the record. */
export type ProviderErrorKind =
  | 'auth'
  | 'quota'
  | 'rate_limit'
  | 'overloaded'
  | 'timeout'
  | 'context_length'
  | 'not_found'
  | 'invalid_request'
  | 'tool_use_failed'
  | 'server';

const meanings: Readonly<
  Record<ProviderErrorKind, Pick<ErrorReport, 'type'> & { readonly retryable: boolean }>
> = {
  auth: { type: 'model', retryable: false },
  quota: { type: 'rate_limit', retryable: false },
  rate_limit: { type: 'rate_limit', retryable: true },
  overloaded: { type: 'rate_limit', retryable: true },
  timeout: { type: 'timeout', retryable: true },
  context_length: { type: 'model', retryable: false },
  not_found: { type: 'model', retryable: false },
  invalid_request: { type: 'model', retryable: false },
  tool_use_failed: { type: 'validation', retryable: false },
  server: { type: 'model', retryable: true },
};

/** The parts of an error body, whatever its shape. */
interface ErrorBody {
  readonly message: string | null;
  /** Everything a provider may put its word for the failure into, in one lower-case text. */
  readonly words: string;
  readonly status: number | null;
}

/** One record for any refusal: by HTTP status, by a body inside HTTP 200, by words where the status lies. */
export function providerError(
  httpStatus: number,
  headers: HeaderMap,
  body: string,
  now: number,
): ErrorReport {
  const parsed = parseJson(body);
  const json: unknown = parsed.ok ? parsed.value : undefined;
  const { message, words, status: inBody } = readErrorBody(json, body);
  const status = httpStatus >= 400 ? httpStatus : inBody;
  const kind = kindOf(status ?? statusOfWords(words), words);
  const wait = retryAfterMs(headers, json, now);
  return {
    ...meanings[kind],
    code: kind,
    message: message ?? `The provider refused with status ${status ?? 'unknown'}.`,
    ...(status === null ? null : { status }),
    ...(wait === undefined ? null : { retryAfterMs: wait }),
  };
}

/** Whether a body that came with HTTP 200 is an error all the same. */
export const isErrorBody = (json: unknown): boolean =>
  isRecord(json) &&
  ((json['error'] !== undefined && json['error'] !== null && json['error'] !== '') ||
    json['type'] === 'error' ||
    (json['object'] === 'error' && !Array.isArray(json['choices'])));

export function readErrorBody(json: unknown, raw: string): ErrorBody {
  const first: unknown = Array.isArray(json) ? json[0] : json;
  if (!isRecord(first)) return { message: plainText(raw), words: raw.toLowerCase(), status: null };
  const error = first['error'] ?? first;
  const inner = isRecord(error) ? error : {};
  const message =
    text(error) ??
    text(inner['message']) ??
    text(first['message']) ??
    text(first['detail']) ??
    text(inner['detail']) ??
    (isRecord(inner['error']) ? text(inner['error']['message']) : null);
  const details = Array.isArray(inner['details']) ? inner['details'] : [];
  const words = [
    inner['code'],
    inner['type'],
    inner['status'],
    first['code'],
    first['type'],
    ...details.map((detail) => (isRecord(detail) ? detail['reason'] : null)),
    message,
  ];
  const numbers = [
    inner['status_code'],
    inner['code'],
    inner['status'],
    first['status'],
    first['code'],
  ];
  return {
    message,
    words: words
      .filter((word) => typeof word === 'string')
      .join(' ')
      .toLowerCase(),
    status: numbers.find(isStatus) ?? null,
  };
}

const isStatus = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 400 && value < 600;

function kindOf(status: number, words: string): ProviderErrorKind {
  if (/tool_use_failed|tool call validation failed/.test(words)) return 'tool_use_failed';
  if (
    /insufficient_quota|exceeded your current quota|billing|credit balance|insufficient (?:balance|credits)/.test(
      words,
    ) ||
    status === 402
  )
    return 'quota';
  if (
    /context_length|context length|context window|maximum context|prompt is too long|input is too long|too many input tokens/.test(
      words,
    )
  )
    return 'context_length';
  if (/overloaded/.test(words) || status === 529) return 'overloaded';
  if (status === 429 || /rate.?limit|too many requests|resource_exhausted/.test(words))
    return 'rate_limit';
  if (
    status === 401 ||
    status === 403 ||
    /api.?key|unauthorized|authentication|unauthenticated|permission_denied/.test(words)
  )
    return 'auth';
  if (status === 404 || /model_not_found|not_found/.test(words)) return 'not_found';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 503 && /capacity|unavailable|try again/.test(words)) return 'overloaded';
  return status >= 500 ? 'server' : 'invalid_request';
}

/** Errors inside a stream often carry a word and no number. */
function statusOfWords(words: string): number {
  if (/insufficient_quota|rate.?limit|too many requests|resource_exhausted/.test(words)) return 429;
  if (/overloaded/.test(words)) return 529;
  if (/invalid_request|invalid_argument|tool_use_failed|context/.test(words)) return 400;
  if (/authentication|api.?key/.test(words)) return 401;
  return 500;
}

const text = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value : null;

/** An HTML page or a bare line, as one short sentence. */
function plainText(raw: string): string | null {
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(raw)?.[1];
  const words = (title ?? raw.replaceAll(/<[^>]*>/g, ' ')).replaceAll(/\s+/g, ' ').trim();
  return words === '' ? null : words.slice(0, 300);
}
