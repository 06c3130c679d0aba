import { isRecord } from '../../json.ts';

/** Header names in lower case. */
export type HeaderMap = Readonly<Record<string, string>>;

/** The headers that say when to come back, most exact first. */
const resetHeaders = [
  'x-ratelimit-reset',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
  'ratelimit-reset',
  'ratelimitbysize-reset',
  'anthropic-ratelimit-requests-reset',
  'anthropic-ratelimit-tokens-reset',
] as const;

/** How long the provider asks to wait, from any header or body form in use; undefined when it does not say. */
export function retryAfterMs(headers: HeaderMap, body: unknown, now: number): number | undefined {
  const inBody = isRecord(body) && isRecord(body['error']) ? body['error'] : body;
  return (
    positiveOf(number(headers['retry-after-ms'])) ??
    waitOf(headers['retry-after'], now) ??
    fromDetails(inBody) ??
    fromMessage(inBody) ??
    fromResets(headers, now) ??
    fromResets(headersIn(inBody), now)
  );
}

function fromResets(headers: HeaderMap, now: number): number | undefined {
  for (const name of resetHeaders) {
    const spent = headers[name.replace('reset', 'remaining')];
    // what is not spent did not cause the refusal
    if (spent !== undefined && number(spent) !== 0) continue;
    const wait = waitOf(headers[name], now);
    if (wait !== undefined) return wait;
  }
  return undefined;
}

/** Seconds, a duration such as `1m13.5s`, a date, or an epoch in seconds or milliseconds. */
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

function durationOf(text: string): number | undefined {
  const trimmed = text.trim();
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(trimmed)) return undefined;
  let total = 0;
  for (const [, amount, unit = 's'] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
    total += Number(amount) * (units[unit] ?? 0);
  return positiveOf(total);
}

/** Google's `details: [{ retryDelay: "37s" }]`. */
function fromDetails(error: unknown): number | undefined {
  if (!isRecord(error) || !Array.isArray(error['details'])) return undefined;
  for (const detail of error['details'])
    if (isRecord(detail) && typeof detail['retryDelay'] === 'string')
      return durationOf(detail['retryDelay']);
  return undefined;
}

/** "Please try again in 1.2s", "retry after 20 seconds". */
function fromMessage(error: unknown): number | undefined {
  const message = isRecord(error) ? error['message'] : undefined;
  if (typeof message !== 'string') return undefined;
  const [, amount, unit = ''] =
    /(?:try again|retry)\s+(?:in|after)\s+((?:\d+(?:\.\d+)?(?:ms|s|m|h))+|\d+(?:\.\d+)?)\s*(seconds?|minutes?)?/i.exec(
      message,
    ) ?? [];
  if (amount === undefined) return undefined;
  if (/[a-z]$/i.test(amount)) return durationOf(amount.toLowerCase());
  return positiveOf(Number(amount) * (unit.startsWith('minute') ? 60_000 : 1000));
}

/** OpenRouter repeats the upstream's headers in the body. */
function headersIn(error: unknown): HeaderMap {
  const metadata = isRecord(error) ? error['metadata'] : undefined;
  const headers = isRecord(metadata) ? metadata['headers'] : undefined;
  if (!isRecord(headers)) return {};
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}

const number = (text: string | undefined): number | undefined => {
  if (text === undefined || text.trim() === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
};

const positiveOf = (ms: number | undefined): number | undefined =>
  ms !== undefined && Number.isFinite(ms) && ms > 0 ? Math.ceil(ms) : undefined;
