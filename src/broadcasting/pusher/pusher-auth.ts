import { AgentError, invalidOption } from '../../errors/agent-error.ts';
import { logStack } from '../../errors/log-text.ts';
import { isRecord, parseJson, type JsonObject } from '../../json.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';

/** A channel that a client asks to join. */
export interface AgentChannel {
  readonly sessionId: string;
  /** Name on the wire: `private-agent.{session_id}` or `presence-agent.{session_id}`. */
  readonly channel: string;
  readonly kind: 'private' | 'presence';
  readonly socketId: string;
}

/**
 * Result of `authorize`. False, null or nothing refuses. Members of a presence channel see the `userInfo` of each
 * other, or `{ id }`.
 */
export type ChannelAccess =
  | boolean
  | null
  | undefined
  | { readonly userId: string; readonly userInfo?: JsonObject };

export interface PusherAuthOptions {
  readonly key: string;
  readonly secret: string;
  /** Decides who may read a session: get the user from the request. The body of the request is already read. */
  authorize(request: Request, channel: AgentChannel): ChannelAccess | Promise<ChannelAccess>;
  /** Called with what `authorize` threw; the client gets a 500 without it. Default: console.error. */
  readonly onError?: (error: unknown) => void;
}

/** Bytes of a socket id and the longest channel name, with a margin. */
const MAX_BODY = 8_192;
const SOCKET_ID = /^\d{1,20}\.\d{1,20}$/;
const CHANNEL = /^(private|presence)-agent\.([A-Za-z0-9_\-=@,.;]{1,185})$/;

/** Creates the endpoint that pusher-js and Laravel Echo call before they subscribe: a Fetch handler for POST. */
export function pusherAuth(options: PusherAuthOptions): (request: Request) => Promise<Response> {
  const { key, onError = report } = options;
  if (typeof key !== 'string' || !/^[\w.~@-]{1,200}$/.test(key))
    throw invalidOption('pusherAuth key', key, 'the key of the app');
  if (typeof options.authorize !== 'function')
    throw invalidOption('pusherAuth authorize', options.authorize, 'a function');
  const sign = signer(options.secret);

  const answer = async (request: Request): Promise<Response> => {
    if (request.method !== 'POST')
      return refusal(405, 'method_not_allowed', 'Send a POST request.', { allow: 'POST' });
    const body = await boundedText(request);
    if (body === null)
      return refusal(413, 'too_large', `The body has more than ${MAX_BODY} bytes.`);
    const fields = fieldsOf(body, request.headers.get('content-type') ?? '');
    const socketId = fields['socket_id'];
    const channel = fields['channel_name'];
    if (typeof socketId !== 'string' || !SOCKET_ID.test(socketId))
      return refusal(400, 'invalid_request', 'socket_id must be two numbers joined by a dot.');
    if (typeof channel !== 'string' || channel === '')
      return refusal(400, 'invalid_request', 'channel_name is missing.');
    const [, kind, sessionId] = CHANNEL.exec(channel) ?? [];
    if (kind === undefined || sessionId === undefined) return forbidden();
    const asked = { sessionId, channel, kind: kind as AgentChannel['kind'], socketId };
    const access = await options.authorize(request, asked);
    if (!access) return forbidden();
    const signed = `${socketId}:${channel}`;
    if (asked.kind === 'private') return json(200, { auth: `${key}:${await sign(signed)}` });
    const channelData = memberOf(access);
    const auth = `${key}:${await sign(`${signed}:${channelData}`)}`;
    return json(200, { auth, channel_data: channelData });
  };

  return async (request) => {
    try {
      return await answer(request);
    } catch (error) {
      onError(error);
      return refusal(500, 'internal', 'The channel could not be authorized.');
    }
  };
}

/**
 * Lets the owner of a session read it. `ownerOf` returns the name that sessions are created with, or null if the
 * request is not signed in.
 */
export const ownedSessions =
  (
    runtime: Pick<SessionRuntime, 'get'>,
    ownerOf: (request: Request) => string | null | undefined | Promise<string | null | undefined>,
  ): PusherAuthOptions['authorize'] =>
  async (request, { sessionId }) => {
    const owner = await ownerOf(request);
    if (!owner) return false;
    try {
      await runtime.get(sessionId, { owner });
      return { userId: owner };
    } catch (error) {
      if (AgentError.is(error, 'session_not_found')) return false;
      throw error;
    }
  };

/** Returns the exact text that is signed. Reverb fails on a presence channel in which a member has no `user_info`. */
function memberOf(access: Exclude<ChannelAccess, false | null | undefined>): string {
  const { userId, userInfo } = access === true ? { userId: '' } : access;
  if (typeof userId !== 'string' || userId === '')
    throw invalidOption(
      'What authorize returned for a presence channel',
      access,
      '{ userId, userInfo? }, because its members see each other',
    );
  return JSON.stringify({ user_id: userId, user_info: userInfo ?? { id: userId } });
}

/** Reads at most `MAX_BODY` bytes; null if there are more. */
async function boundedText({ body }: Request): Promise<string | null> {
  if (!body) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MAX_BODY) {
      await reader.cancel().catch(() => {});
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}

function fieldsOf(body: string, type: string): Readonly<Record<string, unknown>> {
  if (!/\bjson\b/i.test(type)) return Object.fromEntries(new URLSearchParams(body));
  const parsed = parseJson(body);
  return parsed.ok && isRecord(parsed.value) ? parsed.value : {};
}

/** Returns a signer: HMAC-SHA256 as lower case hex. */
function signer(secret: string): (text: string) => Promise<string> {
  if (typeof secret !== 'string' || secret.trim() === '')
    throw new AgentError(
      'invalid_option',
      'pusherAuth secret is missing. Pass the secret of the app.',
    );
  const encoder = new TextEncoder();
  let importing: Promise<CryptoKey> | null = null;
  return async (text) => {
    importing ??= crypto.subtle.importKey(
      'raw',
      encoder.encode(secret),
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['sign'],
    );
    const mac = await crypto.subtle.sign('HMAC', await importing, encoder.encode(text));
    return Array.from(new Uint8Array(mac), (byte) => byte.toString(16).padStart(2, '0')).join('');
  };
}

/** The same response for another owner's session, a missing one and a channel with another name. */
const forbidden = (): Response =>
  refusal(403, 'forbidden', 'This channel does not exist, or it is not yours.');

const refusal = (
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response => json(status, { error: { code, message } }, headers);

const json = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response =>
  Response.json(body, { status, headers: { 'cache-control': 'no-store', ...headers } });

const report = (error: unknown): void =>
  console.error(`onward: authorize of pusherAuth failed. ${logStack(error)}`);
