import { isRecord } from '../../json.ts';

/** Headers with names in lower case. */
export type HeaderMap = Readonly<Record<string, string>>;

/** Converts headers of any container. */
export function headerMap(headers: unknown): HeaderMap {
  const entries =
    headers instanceof Headers
      ? headers.entries()
      : isRecord(headers)
        ? Object.entries(headers)
        : [];
  return Object.fromEntries(Array.from(entries, ([k, v]) => [k.toLowerCase(), String(v)]));
}

/**
 * Returns how long the provider asks to wait, from any header or body format in use; undefined if it does not say.
 * Headers with the reset of a limit count only for a call that was `limited`.
 */
export function retryAfterMs(
  headers: HeaderMap,
  error: unknown,
  message: string | null,
  now: number,
  limited: boolean,
): number | undefined {
  const repeated = headersIn(error);
  return (
    fromHeaders(headers, now) ??
    fromFields(error, now) ??
    fromDetails(error) ??
    fromMessage(message) ??
    fromHeaders(repeated, now) ??
    (limited ? (fromResets(headers, now) ?? fromResets(repeated, now)) : undefined)
  );
}

/** Reads retry headers; ignores a zero next to another hint. */
const fromHeaders = (headers: HeaderMap, now: number): number | undefined =>
  positiveOf(number(headers['retry-after-ms'])) ??
  positiveOf(number(headers['x-ms-retry-after-ms'])) ??
  waitOf(headers['retry-after'], now);

/** Reads `x-ratelimit-reset-tokens` and similar headers of spent limits; the longest wins. */
function fromResets(headers: HeaderMap, now: number): number | undefined {
  const waits = Object.keys(headers)
    .filter((name) => /ratelimit.*reset/.test(name))
    .filter((name) => {
      const left = number(headers[name.replace('reset', 'remaining')]);
      // a limit that is not used up did not cause the error
      return left === undefined || left <= 0;
    })
    .map((name) => waitOf(headers[name], now))
    .filter((wait) => wait !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** Parses seconds, a duration such as `1m13.5s`, a date, or an epoch in seconds or milliseconds. */
export function waitOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const plain = number(text);
  if (plain !== undefined) {
    if (plain > 1e12) return positiveOf(plain - now);
    if (plain > 1e9) return positiveOf(plain * 1000 - now);
    return positiveOf(plain * 1000);
  }
  return durationOf(text) ?? positiveOf(Date.parse(text) - now);
}

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const amount = String.raw`\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])`;
const span = String.raw`${amount}(?:[\s,]*${amount})*`;
const wholeSpan = new RegExp(`^${span}$`, 'i');
const pieces = new RegExp(amount, 'gi');
const asked = new RegExp(
  String.raw`(?:try again|retry|wait|available)(?: again)?(?:\s+(?:in|after|for|at least|about))*:?\s*~?(?:(${span})|(?<=(?:in|after|for):?\s*)(\d+(?:\.\d+)?))`,
  'i',
);

function durationOf(text: string): number | undefined {
  const trimmed = text.trim();
  // units without spaces in `1m13.5s`
  const spaced = trimmed.replaceAll(/([a-z])(?=\d)/gi, '$1 ');
  return wholeSpan.test(spaced) ? positiveOf(sumOf(spaced)) : undefined;
}

const sumOf = (text: string): number =>
  [...text.matchAll(pieces)].reduce((sum, [piece]) => {
    const unit = piece.replace(/^[\d.\s]+/, '').toLowerCase();
    const key = unit === 'ms' || unit.startsWith('milli') ? 'ms' : (unit[0] ?? 's');
    return sum + Number.parseFloat(piece) * (units[key] ?? 0);
  }, 0);

/** Reads `retry_after: 3` in seconds or `retry_after_ms`, in the error or in its metadata. */
function fromFields(error: unknown, now: number): number | undefined {
  if (!isRecord(error)) return undefined;
  for (const container of [error, error['metadata'], error['details']]) {
    if (!isRecord(container)) continue;
    for (const [name, value] of Object.entries(container)) {
      const key = name.toLowerCase().replaceAll(/[-_]/g, '');
      if (!key.startsWith('retryafter')) continue;
      const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
      const wait = key.endsWith('ms') ? positiveOf(number(text)) : waitOf(text, now);
      if (wait !== undefined) return wait;
    }
  }
  return undefined;
}

/** Reads Google's `details: [{ retryDelay: "37s" }]`. */
function fromDetails(error: unknown): number | undefined {
  if (!isRecord(error) || !Array.isArray(error['details'])) return undefined;
  for (const detail of error['details'] as unknown[]) {
    const delay = isRecord(detail) ? detail['retryDelay'] : undefined;
    if (typeof delay === 'string') return durationOf(delay);
    if (isRecord(delay)) return positiveOf(Number(delay['seconds']) * 1000);
  }
  return undefined;
}

/** Reads "Please try again in 1m13.5s" or "retry after 20 seconds"; a bare number is seconds. */
function fromMessage(message: string | null): number | undefined {
  if (message === null) return undefined;
  const [, spelled, seconds] =
    asked.exec(message.replaceAll(/(\d(?:ms|[smhd]))(?=\d)/gi, '$1 ')) ?? [];
  if (spelled !== undefined) return positiveOf(sumOf(spelled));
  return seconds === undefined ? undefined : positiveOf(Number(seconds) * 1000);
}

/** Reads the upstream's headers, which OpenRouter repeats in the body. */
function headersIn(error: unknown): HeaderMap {
  const metadata = isRecord(error) ? error['metadata'] : undefined;
  return isRecord(metadata) ? headerMap(metadata['headers']) : {};
}

const number = (text: string | undefined): number | undefined => {
  if (text === undefined || text.trim() === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
};

/** Rounds to milliseconds; 1.1 seconds are 1,100 despite floating point. */
const positiveOf = (ms: number | undefined): number | undefined =>
  ms !== undefined && Number.isFinite(ms) && ms > 0 ? Math.ceil(ms - 1e-6) : undefined;
