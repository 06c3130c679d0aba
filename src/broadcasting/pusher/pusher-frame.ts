import { BroadcastError, type Broadcast } from '../broadcaster.ts';
import type { Envelope } from '../envelope.ts';

/** An event with the names of the wire. */
export interface PusherEvent {
  readonly channel: string;
  readonly name: string;
  readonly data: string;
}

/** Names that the SDK accepts. Reverb accepts more, hosted Pusher does not. */
const NAME = /^[A-Za-z0-9_\-=@,.;]{1,200}$/;

export function pusherEvent({ channel, envelope }: Broadcast): PusherEvent {
  const event = {
    channel: `private-${channel}`,
    name: envelope.type,
    data: textOf(envelope).json,
  };
  for (const name of [event.channel, event.name])
    if (!NAME.test(name))
      throw new BroadcastError(
        `The name ${JSON.stringify(name.slice(0, 80))} (${name.length} characters) cannot be used on the Pusher wire. ` +
          'Channels and events have up to 200 letters, digits and _-=@,.; in their names.',
        { retryable: false },
      );
  return event;
}

const ITEM = '{"channel":"private-","name":"","data":""},'.length;

/** Returns the bytes of an envelope in the body of a batch, and no fewer than it needs on its own. */
export const eventBytes = ({ channel, envelope }: Broadcast): number =>
  ITEM + channel.length + envelope.type.length + textOf(envelope).bytes;

interface Text {
  readonly json: string;
  /** JSON as a string inside other JSON, without its quotes. */
  readonly bytes: number;
}

/** Cached, because a batch is packed, sent and possibly sent again. */
const texts = new WeakMap<Envelope, Text>();

function textOf(envelope: Envelope): Text {
  let text = texts.get(envelope);
  if (!text) {
    const json = JSON.stringify(envelope);
    text = { json, bytes: nestedBytes(json) };
    texts.set(envelope, text);
  }
  return text;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Returns the UTF-8 bytes plus one backslash for each quote and backslash; JSON contains no other characters to
 * escape.
 */
function nestedBytes(json: string): number {
  let bytes = json.length;
  for (let i = 0; i < json.length; i++) {
    const unit = json.charCodeAt(i);
    if (unit === QUOTE || unit === BACKSLASH || (unit > 0x7f && unit < 0x800)) bytes++;
    // a surrogate pair makes four bytes
    else if (unit >= 0x800) bytes += unit >= 0xd800 && unit <= 0xdfff ? 1 : 2;
  }
  return bytes;
}

/** Returns the bytes of a request without its events, as version 5 of the SDK writes it. */
export function requestBytes(
  { appId, key, authority, path }: { appId: string; key: string; authority: string; path: string },
  maxRequestBytes: number,
): number {
  const head = [
    `POST ${path}/apps/${appId}/batch_events?auth_key=${key}&auth_timestamp=${'0'.repeat(10)}&auth_version=1.0` +
      `&body_md5=${'0'.repeat(32)}&auth_signature=${'0'.repeat(64)} HTTP/1.1`,
    'x-pusher-library: pusher-http-node 55.33.44',
    'content-type: application/json',
    'Accept: */*',
    `Content-Length: ${maxRequestBytes}`,
    'User-Agent: node-fetch/1.0 (+https://github.com/bitinn/node-fetch)',
    'Accept-Encoding: gzip,deflate',
    `Host: ${authority}`,
    'Connection: keep-alive',
    '{"batch":[]}',
  ];
  return head.join('\r\n').length + '\r\n'.length;
}
