import { createParser } from 'eventsource-parser';
import { LineFeeds } from '../../line-feeds.ts';
import { SourceError } from './source-error.ts';

export interface SseMessage {
  /** `message` where the stream named none. */
  readonly event: string;
  readonly data: string;
  /** The last one that a message of the stream had. */
  readonly id: string | null;
}

export interface SseParser {
  /** Takes the text in pieces, split anywhere. Throws when one event is longer than the limit. */
  feed(text: string): void;
}

/** Characters of one event and of one line; more than any envelope of a server has. */
export const LONGEST_EVENT = 33_554_432;

/** Reads server-sent events. The end of the stream completes no message. */
export function sseParser(
  onMessage: (message: SseMessage) => void,
  onRetry: (ms: number) => void = () => {},
): SseParser {
  let id: string | null = null;
  const lines = new LineFeeds();
  const parser = createParser({
    maxBufferSize: LONGEST_EVENT,
    onRetry,
    onEvent(message) {
      if (message.id !== undefined) id = message.id || null;
      onMessage({ event: message.event ?? 'message', data: message.data, id });
    },
    onError({ type }) {
      if (type === 'max-buffer-size-exceeded')
        throw new SourceError(
          'unreadable',
          `The event stream sent an event of more than ${LONGEST_EVENT} characters. Check that its address is that of a session.`,
        );
    },
  });
  return { feed: (text) => parser.feed(lines.next(text)) };
}
