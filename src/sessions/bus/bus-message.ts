import { utf8Bytes } from '../../json.ts';
import { isSessionId } from '../check-names.ts';
import type { LogPosition } from '../feed/live-source.ts';

/** A message between the processes of a store. It has no authority: receivers read the store. */
export type BusMessage =
  /** A session needs work. `isStop`: a stop was requested, which any worker can carry out. */
  | {
      readonly kind: 'wake';
      readonly sessionId: string;
      readonly owner: string;
      readonly agent: string;
      readonly isStop: boolean;
    }
  /** These sessions have changed in the store. */
  | { readonly kind: 'changed'; readonly sessionIds: readonly string[] }
  /** The node follows these sessions, or waits for them. */
  | { readonly kind: 'watch'; readonly node: string; readonly sessionIds: readonly string[] }
  | { readonly kind: 'unwatch'; readonly node: string; readonly sessionIds: readonly string[] }
  /** Asks all nodes for their `watch` messages. */
  | { readonly kind: 'hello'; readonly node: string }
  /** Streamed text, in the body. */
  | { readonly kind: 'live' }
  /** Asks the worker of a session for the text so far, after a position in its log. */
  | ({
      readonly kind: 'ask';
      readonly node: string;
      readonly question: string;
      readonly sessionId: string;
    } & LogPosition)
  /** A part of the answer, in the body. */
  | { readonly kind: 'text'; readonly question: string; readonly isLast: boolean };

export interface ReceivedMessage {
  readonly message: BusMessage;
  readonly body: string;
}

/** Encodes a message as a header in one line, then the body. */
export const encodeMessage = (message: BusMessage, body: string = ''): string =>
  `${JSON.stringify(message)}\n${body}`;

/** Decodes a message. Returns null for an unknown format, for example of a later release. */
export function decodeMessage(text: string): ReceivedMessage | null {
  const end = text.indexOf('\n');
  if (end === -1) return null;
  try {
    const message: unknown = JSON.parse(text.slice(0, end));
    return isMessage(message) ? { message, body: text.slice(end + 1) } : null;
  } catch {
    return null;
  }
}

function isMessage(value: unknown): value is BusMessage {
  if (typeof value !== 'object' || value === null) return false;
  const message = value as Record<string, unknown>;
  const areTexts = (...names: readonly string[]): boolean =>
    names.every((name) => typeof message[name] === 'string');
  const { kind, sessionId, sessionIds } = message;
  const hasSession = isSessionId(sessionId);
  const hasSessions = Array.isArray(sessionIds) && sessionIds.every(isSessionId);
  switch (kind) {
    case 'wake':
      return hasSession && areTexts('owner', 'agent') && typeof message['isStop'] === 'boolean';
    case 'changed':
      return hasSessions;
    case 'watch':
    case 'unwatch':
      return hasSessions && areTexts('node');
    case 'hello':
      return areTexts('node');
    case 'ask':
      return (
        hasSession &&
        areTexts('node', 'question', 'executionId') &&
        Number.isSafeInteger(message['seq'])
      );
    case 'text':
      return areTexts('question') && typeof message['isLast'] === 'boolean';
    default:
      return kind === 'live';
  }
}

/** Groups session ids so that a message with one group has at most `maxBytes`. */
export function groupIds(ids: Iterable<string>, maxBytes: number): string[][] {
  const groups: string[][] = [];
  // header, node and commas
  const capacity = maxBytes - 300;
  let bytes = 0;
  for (const id of ids) {
    const size = utf8Bytes(id) + 3;
    const last = groups.at(-1);
    if (last && bytes + size <= capacity) last.push(id);
    else {
      groups.push([id]);
      bytes = 0;
    }
    bytes += size;
  }
  return groups;
}
