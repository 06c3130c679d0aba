import { createParser } from 'eventsource-parser';

export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

/** Cuts a byte stream into server-sent events, wherever the reads fall, also inside a character. */
export class SseReader {
  readonly #events: SseEvent[] = [];
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({
    onEvent: ({ event, data }) => this.#events.push({ event: event ?? '', data }),
  });
  #raw = '';
  #count = 0;

  feed(bytes: Uint8Array): SseEvent[] {
    return this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The last event may lack its blank line. */
  end(): SseEvent[] {
    return this.#take(`${this.#decoder.decode()}\n\n`);
  }

  /** The text so far, as long as it held no event: a server may answer a stream with plain JSON. */
  get plainText(): string {
    return this.#count === 0 ? this.#raw : '';
  }

  #take(text: string): SseEvent[] {
    if (this.#count === 0) this.#raw += text;
    this.#parser.feed(text);
    const events = this.#events.splice(0);
    this.#count += events.length;
    return events;
  }
}
