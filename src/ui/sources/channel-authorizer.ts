import { isRecord } from '../../json.ts';
import { retryAfterMs } from './failures.ts';
import { shown, type HttpOptions } from './http-reads.ts';
import { toError } from './source-error.ts';

export interface ChannelAuthorizerOptions extends HttpOptions {
  /** URL of the auth endpoint, such as `/broadcasting/auth`. */
  readonly url: string;
}

interface ChannelAuth {
  readonly auth: string;
  readonly channel_data?: string;
}

type Callback = (error: Error | null, data: ChannelAuth | null) => void;

/**
 * Creates a `channelAuthorization` for `pusher-js` and Echo. Unlike the built-in one, it reads headers before each
 * request, for tokens that change, and obeys `Retry-After`.
 */
export function channelAuthorizer(options: ChannelAuthorizerOptions): {
  readonly customHandler: (
    params: { readonly socketId: string; readonly channelName: string },
    callback: Callback,
  ) => void;
  /** Unused; required by the types of pusher-js. */
  readonly endpoint: string;
  readonly transport: 'ajax';
} {
  return {
    endpoint: options.url,
    transport: 'ajax',
    customHandler({ socketId, channelName }, callback) {
      void answered(options, { socket_id: socketId, channel_name: channelName }, callback);
    },
  };
}

async function answered(
  options: ChannelAuthorizerOptions,
  body: Record<string, string>,
  callback: Callback,
): Promise<void> {
  let data: ChannelAuth;
  try {
    data = await authorized(options, body);
  } catch (error) {
    return callback(toError(error), null);
  }
  callback(null, data);
}

async function authorized(
  { url, headers, credentials, fetch: send = globalThis.fetch }: ChannelAuthorizerOptions,
  body: Record<string, string>,
): Promise<ChannelAuth> {
  const own = typeof headers === 'function' ? await headers() : headers;
  let response: Response;
  try {
    response = await send(url, {
      method: 'POST',
      headers: { accept: 'application/json', ...own },
      body: new URLSearchParams(body),
      ...(credentials && { credentials }),
    });
  } catch (cause) {
    throw new Error(`POST ${shown(url)} got no response.`, { cause });
  }
  const { status } = response;
  const answer: unknown = response.ok ? await response.json().catch(() => null) : null;
  if (!response.ok) void response.body?.cancel().catch(() => {});
  if (isRecord(answer) && typeof answer['auth'] === 'string')
    return answer as unknown as ChannelAuth; // checked
  // pusher-js passes on only this text
  const seconds = Math.ceil(retryAfterMs(response.headers.get('retry-after')) / 1000);
  const wait = seconds > 0 ? `, retry after ${seconds} s` : '';
  throw new Error(`POST ${shown(url)} answered ${status}${wait}.`);
}
