import { createParser } from 'eventsource-parser';
import { LineFeeds } from '../../line-feeds.ts';

export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

/** Maximum characters of stray lines, longer than any error body. The text is parsed again with every line. */
const MAX_STRAY = 16_384;

/** Splits a byte stream into server-sent events, for any split of the bytes, even inside a character. */
export class SseReader {
  #events: SseEvent[] = [];
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({
    onEvent: ({ event = '', data }) => {
      this.#events.push({ event, data });
    },
    onError: ({ line }) => {
      if (line !== undefined && this.#stray.length < MAX_STRAY) this.#stray += `${line}\n`;
    },
  });
  #raw = '';
  readonly #lines = new LineFeeds();
  #hasEvents = false;
  #stray = '';

  feed(bytes: Uint8Array): readonly SseEvent[] {
    return this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Ends the stream; the last event may lack its blank line. */
  end(): readonly SseEvent[] {
    return this.#take(`${this.#decoder.decode()}\n\n`);
  }

  get hasEvents(): boolean {
    return this.#hasEvents;
  }

  /** The text so far, while it has no event: a server may answer a stream with plain JSON. */
  get plainText(): string {
    return this.#hasEvents ? '' : this.#raw.replaceAll(/^:.*$/gm, '').trim();
  }

  /** Lines between events that are not part of the format, such as an error without `data:`. */
  get stray(): string {
    return this.#hasEvents ? this.#stray : '';
  }

  #take(text: string): readonly SseEvent[] {
    if (!this.#hasEvents) this.#raw += text;
    this.#parser.feed(this.#lines.next(text));
    const events = this.#events;
    if (events.length === 0) return events;
    this.#events = [];
    if (!this.#hasEvents) {
      this.#hasEvents = true;
      this.#raw = '';
    }
    return events;
  }
}
