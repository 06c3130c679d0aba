import type { SseFrame } from './sse-frame.ts';
import type { SseSession } from './sse-session.ts';
import { SseStream } from './sse-stream.ts';

/** One client of what is broadcast: it gets what comes from now on, and before that the text that is being streamed. */
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

  /** A new frame of the session; `flush` hands it on. One that does not take what waits is let go. */
  take({ bytes }: SseFrame): void {
    this.stream.write(bytes);
    if (this.stream.backlog > this.#session.bufferBytes) this.#session.dropSlow(this);
  }
}
