import { createParser } from 'eventsource-parser';
import { LineFeeds } from '../../line-feeds.ts';
import { SourceError } from './source-error.ts';

export interface SseMessage {
  /** Event name; `message` if the stream has none. */
  readonly event: string;
  readonly data: string;
  /** The last id of the stream. */
  readonly id: string | null;
}

export interface SseParser {
  /** Parses text in pieces, split anywhere. Throws if an event exceeds the limit. */
  feed(text: string): void;
}

/** Maximum characters of one event and of one line, more than any envelope has. */
export const MAX_EVENT = 33_554_432;

/** Creates a parser of server-sent events. The end of the stream completes no message. */
export function sseParser(
  onMessage: (message: SseMessage) => void,
  onRetry: (ms: number) => void = () => {},
): SseParser {
  let id: string | null = null;
  const lines = new LineFeeds();
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onRetry,
    onEvent(message) {
      if (message.id !== undefined) id = message.id || null;
      onMessage({ event: message.event ?? 'message', data: message.data, id });
    },
    onError({ type }) {
      if (type === 'max-buffer-size-exceeded')
        throw new SourceError(
          'unreadable',
          `The event stream sent an event of more than ${MAX_EVENT} characters. Check that the URL is the event stream of a session.`,
        );
    },
  });
  return { feed: (text) => parser.feed(lines.next(text)) };
}
