import { invalidOption, type AgentError } from '../errors/agent-error.ts';
import { uuid } from '../ids.ts';
import { utf8Bytes } from '../json.ts';
import { sha256 } from '../sha256.ts';
import { notText, tooLarge } from './bus-errors.ts';

/** Longest channel name: the 63 bytes of PostgreSQL minus the suffix that {@link nodeChannel} adds. */
const LONGEST_CHANNEL = 38;

/** Checks the name of the channel that all nodes listen to. */
export function checkedChannel(option: string, channel: string): string {
  if (typeof channel === 'string' && /^[A-Za-z][\w.:-]*$/.test(channel))
    if (channel.length <= LONGEST_CHANNEL) return channel;
  throw invalidOption(
    option,
    channel,
    `a letter and up to ${LONGEST_CHANNEL - 1} letters, digits, "_", ".", ":" or "-"`,
  );
}

/** Returns the channel of one node. The hash allows any node name. */
export const nodeChannel = (channel: string, node: string): string =>
  `${channel}_${sha256(node).slice(0, 24)}`;

/** Creates an id that names a connection in its frames. */
export const newSender = (): string => uuid().replaceAll('-', '').slice(0, 12);

const frame = /^1([0-9a-f]{12})[0-9a-z]{1,11}:/;

/**
 * Encodes a text for transport. The number makes each payload unique, because PostgreSQL sends equal payloads of one
 * transaction only once.
 */
export const encodeFrame = (sender: string, number: number, text: string): string =>
  `1${sender}${number.toString(36)}:${text}`;

/** Decodes a frame. Returns null for any other payload, because other programs may use the same channel. */
export function decodeFrame(
  payload: string,
): { readonly sender: string; readonly text: string } | null {
  const [head, sender] = frame.exec(payload) ?? [];
  if (head === undefined || sender === undefined) return null;
  return { sender, text: payload.slice(head.length) };
}

/** Returns the error for a text that a bus cannot send, or null. */
export function refusalOf(text: string, maxBytes: number): AgentError | null {
  if (typeof text !== 'string') return notText();
  if (text.length * 3 > maxBytes) {
    const bytes = utf8Bytes(text);
    if (bytes > maxBytes) return tooLarge(bytes, maxBytes);
  }
  return /[\0\p{Surrogate}]/u.test(text) ? notText() : null;
}
