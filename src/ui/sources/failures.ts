import { SourceError, type SourceErrorCode } from './source-error.ts';

/** Error codes by HTTP status, for every source; 0 if there was no response. Only the first two are final. */
function codeOfStatus(status: number): SourceErrorCode {
  if (status === 404 || status === 410) return 'not_found';
  if (status >= 200 && status < 300) return 'unreadable';
  const isTemporary =
    status < 400 || status >= 500 || status === 408 || status === 425 || status === 429;
  return isTemporary ? 'unreachable' : 'refused';
}

/** Creates the error of a status. `what` starts the sentence: who answered. */
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
      return ': it does not accept the request. Check the address and the headers.';
    case 'unreadable':
      return ' with something that is not JSON, often a sign-in page. Check the address. The request is retried.';
    case 'unreachable':
      return ', expected 200. The request is retried.';
  }
}

const MAX_WAIT_MS = 300_000;

/** Parses seconds or a date; 0 if it is neither. */
export function retryAfterMs(text: string | null, now: number = Date.now()): number {
  if (text === null || text.trim() === '') return 0;
  const seconds = Number(text);
  const ms = Number.isNaN(seconds) ? Date.parse(text) - now : seconds * 1000;
  return Number.isNaN(ms) ? 0 : Math.min(MAX_WAIT_MS, Math.max(0, ms));
}

/** Meanings of the Pusher protocol's codes. */
const meanings: ReadonlyMap<number, string> = new Map([
  [4000, 'the app accepts only TLS connections'],
  [
    4001,
    'there is no app with this key; check the key of the client and the server it connects to',
  ],
  [4003, 'the app is disabled'],
  [4004, 'the app has reached its limit of connections'],
  [4005, 'the path of the connection is wrong'],
  [4006, 'the version of the client is malformed'],
  [4007, 'the version of the protocol is not supported'],
  [4008, 'the version of the protocol is missing'],
  [
    4009,
    'unauthorized: a channel was signed with another secret, or the origin of the page is not allowed',
  ],
  [4100, 'the server is over capacity'],
  [4200, 'the server could not handle a message and asks to reconnect'],
  [4201, 'the client did not answer a ping in time'],
  [4202, 'the connection was closed after a time without activity'],
  [4301, 'the limit of messages that a client may send was reached, or client events are disabled'],
  [4302, 'the limit of the watchlist was reached'],
]);

/** Returns `4004: the app has reached its limit of connections`, by the class of the code if the code is unknown. */
export function pusherCodeText(code: number): string {
  return `${code}: ${meanings.get(code) ?? classOf(code)}`;
}

function classOf(code: number): string {
  if (code < 4000 || code >= 4400) return 'the connection was closed';
  if (code < 4100) return 'the server refuses this connection';
  if (code < 4200) return 'the server asks to reconnect later';
  if (code < 4300) return 'the server asks to reconnect';
  return 'the server refused what the client sent';
}

/** Whether the code is final: Pusher clients then stay disconnected. */
const isFinalCode = (code: number): boolean =>
  (code > 4000 && code < 4100) || (code >= 4300 && code < 4400);

/** Explains why a Pusher client in this state has no connection. */
export function connectionFailure(state: string, code: number | null): SourceError {
  const said = code === null ? '' : ` The server reported ${pusherCodeText(code)}.`;
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
            `The Pusher server refused the connection with ${pusherCodeText(code)}. The client does not retry. Fix the cause, then call connect() on it.`,
          )
        : new SourceError(
            'unreachable',
            `The Pusher client is disconnected.${said} Call connect() on it to go live again.`,
          );
    default:
      return new SourceError(
        'unreachable',
        `The Pusher client has no connection (${state}).${said} It keeps retrying. Check that the server runs, and its host, port and TLS.`,
      );
  }
}
