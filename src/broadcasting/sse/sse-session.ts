import { isLast, type Envelope } from '../envelope.ts';
import { sseFrame } from './sse-frame.ts';
import type { SseReader } from './sse-reader.ts';
import { SseUnfinished, type SseMeter } from './sse-unfinished.ts';

/** Callbacks of the hub for one session. */
export interface SseSessionHost {
  readonly bufferBytes: number;
  left(session: SseSession): void;
  slow(): void;
}

/** The readers of one broadcast session in this process, and its unfinished text. */
export class SseSession {
  readonly channel: string;
  readonly readers: Set<SseReader> = new Set();
  readonly unfinished: SseUnfinished;
  readonly #host: SseSessionHost;

  constructor(channel: string, host: SseSessionHost, meter: SseMeter) {
    this.channel = channel;
    this.#host = host;
    this.unfinished = new SseUnfinished(meter);
  }

  get bufferBytes(): number {
    return this.#host.bufferBytes;
  }

  /** Adds an envelope for all readers; `flush` sends it. */
  publish(envelope: Envelope): void {
    if (isLast(envelope)) this.unfinished.clear(envelope.execution_id);
    else this.unfinished.note(envelope);
    if (this.readers.size === 0) return;
    const frame = sseFrame(envelope);
    for (const reader of this.readers) reader.take(frame);
  }

  flush(): void {
    for (const reader of this.readers) reader.stream.flush();
  }

  leave(reader: SseReader): void {
    if (this.readers.delete(reader)) this.#host.left(this);
  }

  dropSlow(reader: SseReader): void {
    this.#host.slow();
    reader.stream.drop();
  }
}
