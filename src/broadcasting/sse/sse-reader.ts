import type { SseFrame } from './sse-frame.ts';
import type { SseSession } from './sse-session.ts';
import { SseStream } from './sse-stream.ts';

/** One client of broadcast envelopes: it gets the unfinished text, then every new envelope. */
export class SseReader {
  readonly stream: SseStream;
  readonly #session: SseSession;

  constructor(session: SseSession) {
    this.#session = session;
    this.stream = new SseStream({ wanted: () => {}, ended: () => session.leave(this) });
    const { unfinished } = session;
    for (const bytes of unfinished.frames()) this.stream.write(bytes);
    this.stream.owe();
  }

  /** Adds a frame; `flush` sends it. Disconnects a client whose backlog is too large. */
  take({ bytes }: SseFrame): void {
    this.stream.write(bytes);
    if (this.stream.backlog > this.#session.bufferBytes) this.#session.dropSlow(this);
  }
}
