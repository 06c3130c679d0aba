import { waitOf } from '../../inference/drivers/retry-after.ts';
import { isRecord, parseJson } from '../../json.ts';
import { BroadcastError } from '../broadcaster.ts';

/** Response of a server. */
export interface PusherAnswer {
  readonly status: number;
  readonly retryAfter?: string | undefined;
  readonly location?: string | undefined;
}

export interface PusherFailure {
  /** Origin of the server. */
  readonly server: string;
  readonly bytes: number;
  /** Null if there was no response. */
  readonly answer: PusherAnswer | null;
}

/**
 * Converts what the SDK threw to an error that says what to check. It repeats nothing: the SDK's errors contain the
 * signed address, and a server may echo what it received.
 */
export function pusherFailure(thrown: unknown, failure: PusherFailure): BroadcastError {
  const { status, body, error } = (thrown ?? {}) as {
    readonly status?: unknown;
    readonly body?: unknown;
    readonly error?: unknown;
  };
  const { answer, server } = failure;
  if (answer && answer.status >= 300 && answer.status < 400) return redirected(server, answer);
  const code = typeof status === 'number' ? status : (answer?.status ?? 0);
  if (code >= 400) return refused(code, typeof body === 'string' ? body : '', failure);
  return unreachable(codeOf(error) ?? codeOf(thrown), server);
}

function refused(status: number, body: string, failure: PusherFailure): BroadcastError {
  const { server, bytes, answer } = failure;
  const retryable = status === 408 || status === 429 || status >= 500;
  return new BroadcastError(`${server} answered ${status}: ${meaning(status, body, bytes)}`, {
    retryable,
    retryAfterMs: retryable ? (waitOf(answer?.retryAfter, Date.now()) ?? null) : null,
    pauses: REFUSES_ALL.has(status),
  });
}

/** Statuses about the app or the address, not about this event: every other event would get the same response. */
const REFUSES_ALL: ReadonlySet<number> = new Set([401, 403, 404, 405]);

function meaning(status: number, body: string, bytes: number): string {
  switch (status) {
    case 400:
      return 'it cannot read the request. Check useTLS, and that a Pusher-protocol server listens there.';
    case 401:
      return /timestamp/i.test(body)
        ? 'the signature is too old or from the future. Check the clock of this machine.'
        : 'it does not accept the signature. Check that appId, key and secret belong to one app on this server.';
    case 403:
      return 'the app may not publish. Check that it is enabled and within its quota.';
    case 404:
      return 'it has no such app. Check appId, host, port and path.';
    case 405:
      return 'it does not accept events. Check host, port and path.';
    case 413:
      return (
        `the request of about ${bytes} bytes is too large. Lower maxRequestBytes, or raise the limit of the server ` +
        '(Reverb: REVERB_MAX_REQUEST_SIZE) and of the proxies in front of it.'
      );
    case 422:
      return `it does not accept ${fields(body)}. Check that it is a Pusher-protocol server.`;
    case 429:
      return 'too many requests. They are sent again later; raise batchSize to send fewer.';
    default:
      return status >= 500 ? 'it failed. Check its log.' : 'it refused the request.';
  }
}

/** Field names are ours; the text about them may repeat what was sent. */
function fields(body: string): string {
  const parsed = parseJson(body);
  const names = parsed.ok && isRecord(parsed.value) ? Object.keys(parsed.value) : [];
  const known = names.filter((name) => /^[\w.]{1,40}$/.test(name)).slice(0, 5);
  return known.length > 0 ? known.join(', ') : 'the event';
}

function redirected(server: string, { status, location = '' }: PusherAnswer): BroadcastError {
  const target = URL.canParse(location, server) ? new URL(location, server).origin : 'elsewhere';
  return new BroadcastError(
    `${server} answered ${status} with a redirect to ${target}, which is not followed. ` +
      'Set host, port, path and useTLS to the address that answers.',
    { retryable: false, pauses: true },
  );
}

function unreachable(code: string | null, server: string): BroadcastError {
  const hint =
    code === null
      ? 'Check host, port and network.'
      : /CERT|SELF_SIGNED|ALTNAME|VERIFY/.test(code)
        ? 'Check its certificate, or set NODE_EXTRA_CA_CERTS to the authority that signed it.'
        : /EPROTO|SSL|HPE_/.test(code)
          ? 'Check useTLS: one side speaks TLS, the other does not.'
          : code === 'ENOTFOUND' || code === 'EAI_AGAIN'
            ? 'Check the host name.'
            : 'Check that the server runs, and host, port and useTLS.';
  return new BroadcastError(
    `${server} could not be reached${code === null ? '' : ` (${code})`}. ${hint}`,
    { retryable: true },
  );
}

export const timedOut = (server: string, timeoutMs: number): BroadcastError =>
  new BroadcastError(
    `${server} did not answer within ${timeoutMs} ms. It may have delivered the events. Check useTLS, and that the server runs.`,
    { retryable: true },
  );

export const givenUp = (server: string, cause: unknown): BroadcastError =>
  new BroadcastError(`The request to ${server} was canceled before a response.`, {
    retryable: true,
    cause,
  });

export const notPusher = (server: string): BroadcastError =>
  new BroadcastError(
    `${server} answered, but not as a Pusher-protocol server does. Check host, port and path: ` +
      'another server listens there.',
    { retryable: false, pauses: true },
  );

function codeOf(error: unknown): string | null {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? code : null;
}
