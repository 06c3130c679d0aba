import type { Refill } from '../../broadcasting/envelope.ts';
import { isRecord, type JsonValue } from '../../json.ts';
import type { UiMessage } from '../ui-message.ts';
import type { LogPlace } from '../ui-state.ts';
import { placeText, type EnvelopeSource } from './envelope-source.ts';
import { httpFailure } from './failures.ts';
import { SourceError } from './source-error.ts';

type HeaderRecord = Readonly<Record<string, string>>;

export interface HttpOptions {
  /** Headers, or a function that is called before each request, for tokens that change. */
  readonly headers?: HeaderRecord | (() => HeaderRecord | Promise<HeaderRecord>);
  // the types of Node lack this name
  /** `include` sends cookies to another origin. */
  readonly credentials?: RequestInit['credentials'];
  readonly fetch?: typeof fetch;
}

/** How a source reads what its stream does not deliver: by URL, or by a function of yours. */
export interface ReadOptions extends HttpOptions {
  /** Returns the log after a position, as a `Refill`. */
  readonly refillUrl?: string;
  /** Returns the conversation as UI messages. */
  readonly historyUrl?: string;
  readonly refill?: NonNullable<EnvelopeSource['refill']>;
  readonly history?: NonNullable<EnvelopeSource['history']>;
}

export function readsOf(options: ReadOptions): Pick<EnvelopeSource, 'refill' | 'history'> {
  const { refillUrl, historyUrl } = options;
  const refill =
    options.refill ??
    (refillUrl === undefined
      ? undefined
      : (place: LogPlace | null, signal: AbortSignal) =>
          httpRefill(refillUrl, place, options, signal));
  const history =
    options.history ??
    (historyUrl === undefined
      ? undefined
      : (signal: AbortSignal) => httpHistory(historyUrl, options, signal));
  return { ...(refill && { refill }), ...(history && { history }) };
}

/** Sends a GET request; throws for a status other than 2xx. */
export async function get(
  url: string,
  options: HttpOptions,
  more: HeaderRecord,
  signal: AbortSignal,
): Promise<Response> {
  const { headers, credentials, fetch: send = globalThis.fetch } = options;
  const own = typeof headers === 'function' ? await headers() : headers;
  let response: Response;
  try {
    response = await send(url, {
      headers: { ...own, ...more },
      cache: 'no-store',
      signal,
      ...(credentials && { credentials }),
    });
  } catch (cause) {
    throw new SourceError('unreachable', `GET ${shown(url)} got no response.`, { cause });
  }
  if (response.ok) return response;
  void response.body?.cancel().catch(() => {});
  const what = `GET ${shown(url)} answered ${response.status}`;
  throw httpFailure(what, response.status, response.headers.get('retry-after'));
}

/** Returns the URL without its query, which may contain a token. */
export const shown = (url: string): string => url.replace(/[?#].*$/s, '');

async function json(url: string, options: HttpOptions, signal: AbortSignal): Promise<unknown> {
  const response = await get(url, options, { accept: 'application/json' }, signal);
  try {
    return await response.json();
  } catch {
    throw new SourceError(
      'unreadable',
      `GET ${shown(url)} answered with something that is not JSON.`,
    );
  }
}

/** Requests `{url}?after={seq}@{execution}`; without a position, the newest execution. */
async function httpRefill(
  url: string,
  place: LogPlace | null,
  options: HttpOptions,
  signal: AbortSignal,
): Promise<Refill> {
  const query = place ? `after=${encodeURIComponent(placeText(place))}` : '';
  const asked = query && `${url}${url.includes('?') ? '&' : '?'}${query}`;
  const value = await json(asked || url, options, signal);
  if (isRecord(value) && Array.isArray(value['envelopes']) && typeof value['seq'] === 'number')
    return value as unknown as Refill; // the envelopes are checked when they are read
  throw new SourceError(
    'unreadable',
    `GET ${shown(url)} did not return a refill, expected { execution_id, envelopes, seq, more }.`,
  );
}

async function httpHistory(
  url: string,
  options: HttpOptions,
  signal: AbortSignal,
): Promise<readonly UiMessage[]> {
  const value = await json(url, options, signal);
  const messages = isRecord(value) ? value['messages'] : value;
  if (Array.isArray(messages)) return messages as UiMessage[];
  throw new SourceError(
    'unreadable',
    `GET ${shown(url)} did not return a conversation, expected a list of UI messages or { messages }.`,
  );
}

export interface RefReaderOptions extends HttpOptions {
  /** Expects `{ value }` in response to `?ref=`. */
  readonly url: string;
}

/** Creates a function that fetches the whole of a truncated value. */
export const refReader =
  (options: RefReaderOptions): ((ref: string) => Promise<JsonValue>) =>
  async (ref) => {
    const { url } = options;
    const asked = `${url}${url.includes('?') ? '&' : '?'}ref=${encodeURIComponent(ref)}`;
    const value = await json(asked, options, new AbortController().signal);
    if (isRecord(value) && 'value' in value) return value['value'] as JsonValue; // it arrived as
    // JSON
    throw new SourceError(
      'unreadable',
      `GET ${shown(url)} did not return a value, expected { value }.`,
    );
  };
