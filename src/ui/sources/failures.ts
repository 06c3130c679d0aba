import { SourceError, type SourceErrorCode } from './source-error.ts';

/** What an HTTP status means, for every source alike; 0 where there was no answer. Only the first two are final. */
function codeOfStatus(status: number): SourceErrorCode {
  if (status === 404 || status === 410) return 'not_found';
  if (status >= 200 && status < 300) return 'unreadable';
  const isTemporary =
    status < 400 || status >= 500 || status === 408 || status === 425 || status === 429;
  return isTemporary ? 'unreachable' : 'refused';
}

/** `what` begins the sentence: who answered with the status. */
export function httpFailure(
  what: string,
  status: number,
  retryAfter: string | null = null,
): SourceError {
  const code = codeOfStatus(status);
  return new SourceError(code, `${what}${meaningOf(code, status)}`, {
    status,
    retryAfterMs: retryAfterMs(retryAfter),
  });
}

function meaningOf(code: SourceErrorCode, status: number): string {
  if (status === 401 || status === 403)
    return ': this user may not read the session. Check that the request carries a valid token or cookie, and that the session is theirs.';
  switch (code) {
    case 'not_found':
      return ': there is no such session, or it belongs to another user. Check the address and the session id.';
    case 'refused':
      return ': the request is not one that it takes. Check the address and the headers.';
    case 'unreadable':
      return ' with something that is not JSON, often a sign-in page. It is tried again; check the address.';
    case 'unreachable':
      return ', expected 200. It is tried again.';
  }
}

const LONGEST_WAIT_MS = 300_000;

/** Seconds or a date; 0 where it is neither. */
export function retryAfterMs(text: string | null, now: number = Date.now()): number {
  if (text === null || text.trim() === '') return 0;
  const seconds = Number(text);
  const ms = Number.isNaN(seconds) ? Date.parse(text) - now : seconds * 1000;
  return Number.isNaN(ms) ? 0 : Math.min(LONGEST_WAIT_MS, Math.max(0, ms));
}

/** What the codes of the Pusher protocol say, in words. */
const meanings: ReadonlyMap<number, string> = new Map([
  [4000, 'the app takes connections over TLS only'],
  [
    4001,
    'there is no app with this key; check the key of the client and the server it connects to',
  ],
  [4003, 'the app is disabled'],
  [4004, 'the app has as many connections as it may have'],
  [4005, 'the path of the connection is wrong'],
  [4006, 'the version of the client is malformed'],
  [4007, 'the version of the protocol is not supported'],
  [4008, 'the version of the protocol is missing'],
  [
    4009,
    'unauthorized: a channel was signed with another secret, or the origin of the page is not allowed',
  ],
  [4100, 'the server is over capacity'],
  [4200, 'the server could not handle a message and asks to connect again'],
  [4201, 'the client did not answer a ping in time'],
  [4202, 'the connection was closed after a time without activity'],
  [4301, 'the limit of messages that a client may send was reached, or client events are disabled'],
  [4302, 'the limit of the watchlist was reached'],
]);

/** `4004: the app has as many connections as it may have`, by the class of the code where it is not known. */
export function pusherCodeText(code: number): string {
  return `${code}: ${meanings.get(code) ?? classOf(code)}`;
}

function classOf(code: number): string {
  if (code < 4000 || code >= 4400) return 'the connection was closed';
  if (code < 4100) return 'the server refuses this connection as it is';
  if (code < 4200) return 'the server asks to connect again later';
  if (code < 4300) return 'the server asks to connect again';
  return 'the server refused what the client sent';
}

/** Whether the client must not connect again as it is: Pusher clients then stay disconnected. */
const isFinalCode = (code: number): boolean =>
  (code > 4000 && code < 4100) || (code >= 4300 && code < 4400);

/** Why a Pusher client in this state has no connection. */
export function connectionFailure(state: string, code: number | null): SourceError {
  const said = code === null ? '' : ` The server said ${pusherCodeText(code)}.`;
  switch (state) {
    case 'failed':
      return new SourceError(
        'refused',
        'The Pusher client cannot connect here: WebSockets are not supported, or its options allow no transport.',
      );
    case 'disconnected':
      return code !== null && isFinalCode(code)
        ? new SourceError(
            'refused',
            `The Pusher server refused the connection with ${pusherCodeText(code)}. The client does not try again: fix the cause, then call connect() on it.`,
          )
        : new SourceError(
            'unreachable',
            `The Pusher client is disconnected.${said} It goes back to live when connect() is called on it.`,
          );
    default:
      return new SourceError(
        'unreachable',
        `The Pusher client has no connection (${state}).${said} It keeps trying: check that the server runs, and its host, port and TLS.`,
      );
  }
}
