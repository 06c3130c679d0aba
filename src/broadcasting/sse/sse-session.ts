import { isLast, type Envelope, type Refill } from '../envelope.ts';
import { sseFrame } from './sse-frame.ts';
import type { SseReader } from './sse-reader.ts';
import { SseUnfinished, type SseMeter } from './sse-unfinished.ts';

/** What the hub wants to know of a session. */
export interface SseSessionHost {
  readonly bufferBytes: number;
  left(session: SseSession): void;
  behind(): void;
  slow(): void;
  failed(error: unknown): void;
}

/** A session as one process hears it: who reads it, how far it has come, and what is being said. */
export class SseSession {
  readonly channel: string;
  readonly readers: Set<SseReader> = new Set();
  readonly unfinished: SseUnfinished;
  readonly #host: SseSessionHost;
  /** The newest execution, and the number up to which its log is known here. */
  executionId: string | null = null;
  seq = 0;
  isBusy = false;
  /** Somebody has read its log to the end. */
  isReached = false;
  /** This process works on it: what happens comes by itself. */
  isLocal = false;
  #before: string | null = null;
  /** Between it and the one before there may have been others. */
  #isJump = false;

  constructor(channel: string, host: SseSessionHost, meter: SseMeter) {
    this.channel = channel;
    this.#host = host;
    this.unfinished = new SseUnfinished(meter);
  }

  get bufferBytes(): number {
    return this.#host.bufferBytes;
  }

  /** Hands an envelope to everybody; `flush` sends it. */
  publish(envelope: Envelope, isLocal: boolean): void {
    const { execution_id: executionId, seq } = envelope;
    if (!this.#isKnown(executionId, seq)) this.#note(envelope, isLocal);
    if (this.readers.size === 0) return;
    const frame = sseFrame(envelope);
    for (const reader of this.readers) reader.take(frame);
  }

  flush(): void {
    for (const reader of this.readers) reader.stream.flush();
  }

  /** The log was read to its end. */
  advance({ execution_id: executionId, envelopes, seq }: Refill): void {
    this.isReached = true;
    if (executionId === null || this.#isKnown(executionId, seq)) return;
    for (const envelope of envelopes) this.#observe(envelope);
    this.#moveTo(executionId, seq, false);
  }

  /** Whether the second execution came right after the first: nothing between them was missed. */
  isNext(first: string | null, second: string): boolean {
    return second === this.executionId && first === this.#before && !this.#isJump;
  }

  leave(reader: SseReader): void {
    if (this.readers.delete(reader)) this.#host.left(this);
  }

  fellBehind(): void {
    this.#host.behind();
  }

  dropSlow(reader: SseReader): void {
    this.#host.slow();
    reader.stream.drop();
  }

  /** The client comes back, and is told then if it may not. */
  failed(reader: SseReader, error: unknown): void {
    if (reader.stream.isEnded) return;
    this.#host.failed(error);
    reader.stream.end();
  }

  end(): void {
    for (const reader of this.readers) reader.stream.end();
  }

  /** The log may be read faster than the news arrive, and the other way round. */
  #isKnown(executionId: string, seq: number | null): boolean {
    if (executionId !== this.executionId) return executionId === this.#before;
    return seq !== null && seq <= this.seq;
  }

  #note(envelope: Envelope, isLocal: boolean): void {
    const { execution_id: executionId, seq } = envelope;
    this.isLocal = isLocal;
    this.#observe(envelope);
    if (seq !== null) this.#moveTo(executionId, seq, isLocal);
    if (isLast(envelope)) this.unfinished.clear(executionId);
    else this.unfinished.note(envelope);
  }

  #observe(envelope: Envelope): void {
    if (envelope.type === 'agent.status') this.isBusy = !isLast(envelope);
  }

  #moveTo(executionId: string, seq: number, isLocal: boolean): void {
    if (executionId !== this.executionId) {
      this.#before = this.executionId;
      this.#isJump = !isLocal && this.executionId !== null;
      this.executionId = executionId;
    }
    this.seq = seq;
  }
}
