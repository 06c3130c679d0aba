import type { ErrorReport } from '../../errors/error-record.ts';
import { isRecord, parseJson } from '../../json.ts';
import { readErrorBody } from './error-body.ts';
import { requestIdIn } from './request-id.ts';
import { retryAfterMs, type HeaderMap } from './retry-after.ts';

/** Meaning of a provider's refusal: the `code` of the record. */
export type ProviderErrorKind =
  | 'auth'
  | 'quota'
  | 'rate_limit'
  | 'overloaded'
  | 'timeout'
  | 'cancelled'
  | 'context_length'
  | 'content_filter'
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
  cancelled: { type: 'timeout', retryable: true },
  context_length: { type: 'model', retryable: false },
  content_filter: { type: 'model', retryable: false },
  not_found: { type: 'model', retryable: false },
  invalid_request: { type: 'model', retryable: false },
  tool_use_failed: { type: 'validation', retryable: false },
  server: { type: 'model', retryable: true },
};

/** The facts of a refusal. */
interface Seen {
  /** HTTP status; 0 if neither the transport nor the body has one. */
  readonly status: number;
  /** The provider's own codes, such as `insufficient_quota`, in lower case. */
  readonly words: string;
  /** Its message, in lower case. */
  readonly said: string;
  /** Whether it says when to retry. */
  readonly hasHint: boolean;
}

const saysOverloaded =
  /overload|capacity|too busy|\bis busy|(?:high|heavy|peak) (?:demand|load|traffic)|slow.?down|too.?many.?requests/;

const isRefusable = (status: number): boolean => [0, 400, 403, 422, 451].includes(status);
/** Codes of providers that filter what a request contains: Azure, OpenAI, Alibaba. */
const filterWords =
  /content_?filter|content_policy|responsible_?ai|moderation|(?:bio|cyber)_policy|data_inspection_failed/;
/** Messages of those that have no code for it: Anthropic, Azure, DeepSeek, OpenAI, OpenRouter. */
const filterTexts =
  /content filter|content management policy|content exists risk|flagged (?:as|by|for)|was flagged|moderation/;

const isUnclear = (status: number): boolean => status === 0 || status === 400;

/** Rules; the first match wins. Codes come before statuses, because some providers send wrong statuses. */
const rules: readonly (readonly [ProviderErrorKind, (seen: Seen) => boolean])[] = [
  [
    'tool_use_failed',
    ({ words, said }) =>
      words.includes('tool_use_failed') || said.startsWith('tool call validation failed'),
  ],
  [
    // Gemini also says "exceeded your current quota" for a limit per minute, and then says when to
    // retry
    'quota',
    ({ status, words, said, hasHint }) =>
      status === 402 ||
      /insufficient_quota|insufficient_(?:balance|credits|funds)|billing_/.test(words) ||
      (status < 500 &&
        !hasHint &&
        /exceeded your current quota|credit balance|insufficient (?:balance|credits?|funds|quota)|spending limit|used all available credits|check your (?:plan|billing)/.test(
          said,
        )),
  ],
  [
    'context_length',
    ({ status, words, said }) =>
      status !== 429 &&
      (/context_length|context_window|exceed_context/.test(words) ||
        /context length|context window|context size|maximum (?:context|prompt length)|prompt is too long|input is too long|too many input tokens|input token count|reduce the length of the (?:messages|input|prompt)|inputs`? tokens? \+ `?max_new_tokens/.test(
          said,
        )),
  ],
  [
    'content_filter',
    ({ status, words, said }) =>
      isRefusable(status) && (filterWords.test(words) || filterTexts.test(said)),
  ],
  [
    // a file, an image or an earlier response that the request names: another model has none either
    'invalid_request',
    ({ words }) => /(?:file|image|store|container|response|item)_not_found/.test(words),
  ],
  [
    // a 503 that only says "unavailable", or comes from a proxy, is a server error: `server` below
    'overloaded',
    ({ status, words, said }) =>
      status === 529 ||
      /overloaded/.test(words) ||
      (/overloaded/.test(said) && !isClientFault(status)) ||
      (status === 503 && saysOverloaded.test(`${words} ${said}`)),
  ],
  [
    'rate_limit',
    ({ status, words, said }) =>
      status === 429 ||
      /rate.?limit|too.?many.?requests|resource_exhausted|throttl/.test(words) ||
      ((status === 0 || status === 403) && /rate.?limit|too many requests/.test(said)),
  ],
  [
    'not_found',
    ({ status, words, said }) =>
      status === 404 ||
      /not_found/.test(words) ||
      (isUnclear(status) &&
        /model not found|not a valid model|(?:unknown|invalid|no such) model/.test(said)),
  ],
  [
    'auth',
    ({ status, words, said }) =>
      status === 401 ||
      status === 403 ||
      (status < 500 &&
        /api_?key|authentication|unauthori[sz]ed|unauthenticated|permission_denied/.test(words)) ||
      (isUnclear(status) && /api.?key|unauthorized|authentication/.test(said)),
  ],
  [
    'timeout',
    ({ status, words, said }) =>
      [408, 504, 522, 524].includes(status) ||
      /timeout|deadline_exceeded/.test(words) ||
      (status === 0 && /timed? ?out|deadline exceeded/.test(said)),
  ],
  [
    'cancelled',
    ({ status, words, said }) =>
      status === 499 || /cancell?ed/.test(words) || (status === 0 && /cancell?ed/.test(said)),
  ],
  [
    'server',
    ({ status, words }) => status >= 500 || (status === 0 && words.includes('server_error')),
  ],
  [
    'invalid_request',
    ({ status, words }) =>
      status >= 400 || /invalid|bad_request|validation|image|unsupported|mismatch/.test(words),
  ],
];

const isClientFault = (status: number): boolean => status >= 400 && status < 429;

/** Creates one record for any refusal: by HTTP status, by a body in HTTP 200, by its text if the status is wrong. */
export function providerError(
  httpStatus: number,
  headers: HeaderMap,
  body: string,
  now: number,
): ErrorReport {
  const parsed = parseJson(body);
  const read = readErrorBody(parsed.ok ? parsed.value : undefined, body);
  const status = httpStatus >= 400 ? httpStatus : read.status;
  const hint = (limited: boolean): number | undefined =>
    retryAfterMs(headers, read.error, read.message, now, limited);
  const seen: Seen = {
    status: status ?? 0,
    words: read.words,
    said: read.message?.toLowerCase() ?? '',
    hasHint: hint(false) !== undefined,
  };
  const kind = rules.find(([, fits]) => fits(seen))?.[0] ?? 'server';
  const { type, retryable } = meanings[kind];
  const wait = hint(type === 'rate_limit');
  const requestId = requestIdIn(headers) ?? read.requestId;
  return {
    type,
    code: kind,
    message: read.message ?? `The provider refused with status ${status ?? 'unknown'}.`,
    retryable: retryable && headers['x-should-retry'] !== 'false',
    ...(status === null ? null : { status }),
    ...(wait === undefined ? null : { retryAfterMs: wait }),
    ...(requestId === undefined ? null : { requestId }),
  };
}

/** Whether a body or a chunk with HTTP 200 is an error. */
export function isErrorBody(json: unknown): boolean {
  if (Array.isArray(json)) return json.length > 0 && isErrorBody(json[0]);
  if (!isRecord(json)) return false;
  const { error, choices } = json;
  if (isReported(error)) return true;
  if (Array.isArray(choices)) {
    const first: unknown = choices[0];
    return isRecord(first) && isReported(first['error']);
  }
  return json['type'] === 'error' || json['object'] === 'error' || isRecord(error);
}

const isReported = (error: unknown): boolean =>
  (typeof error === 'string' && error !== '') || (isRecord(error) && Object.keys(error).length > 0);
