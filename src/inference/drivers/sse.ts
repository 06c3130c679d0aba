import { createParser } from 'eventsource-parser';
import { LineFeeds } from '../../line-feeds.ts';

export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

/** More than the body of an error has; it is read again with every line of it. */
const LONGEST_STRAY = 16_384;

/** Cuts a byte stream into server-sent events, wherever the reads fall, also inside a character. */
export class SseReader {
  #events: SseEvent[] = [];
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({
    onEvent: ({ event = '', data }) => {
      this.#events.push({ event, data });
    },
    onError: ({ line }) => {
      if (line !== undefined && this.#stray.length < LONGEST_STRAY) this.#stray += `${line}\n`;
    },
  });
  #raw = '';
  readonly #lines = new LineFeeds();
  #hasEvents = false;
  #stray = '';

  feed(bytes: Uint8Array): readonly SseEvent[] {
    return this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The last event may lack its blank line. */
  end(): readonly SseEvent[] {
    return this.#take(`${this.#decoder.decode()}\n\n`);
  }

  get hasEvents(): boolean {
    return this.#hasEvents;
  }

  /** The text so far, as long as it held no event: a server may answer a stream with plain JSON. */
  get plainText(): string {
    return this.#hasEvents ? '' : this.#raw.replaceAll(/^:.*$/gm, '').trim();
  }

  /** Lines between events that are none of the format, such as an error without `data:`. */
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
