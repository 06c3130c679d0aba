import { pacer } from '../../pacing.ts';
import { isLast, type Envelope, type Refill } from '../envelope.ts';
import { resetFrame, sseBytes, type SseFrame, type SsePlace } from './sse-frame.ts';
import type { SseSession } from './sse-session.ts';
import { SseStream } from './sse-stream.ts';
import type { SseMark } from './sse-unfinished.ts';

/** Reads a page of the log: of an execution, or of the newest one. */
export type SseLog = (place: {
  readonly executionId?: string;
  readonly after: number;
}) => Promise<Refill>;

/** A client that takes nothing of what waits for it is let go after so many heartbeats. */
const MOST_BEATS = 2;
/** Frames that come while a page is read; if there are more, the next page has them. */
const MOST_KEPT = 256;

/**
 * One client. Where it stands in the log decides what it gets: the log is read up to its end, and from there on live
 * frames are taken as long as each follows the one before. Whatever does not follow sends it back to the log.
 */
export class SseReader {
  readonly stream: SseStream;
  readonly #session: SseSession;
  readonly #log: SseLog | null;
  #executionId: string | null;
  /** Up to here the log is known. */
  #seq: number;
  /** The last number that the client was shown: what is filtered out it does not know of. */
  #shown: number;
  /** The execution has ended or paused, as far as the client was told. */
  #isAtRest = false;
  #isLive = false;
  #isReading = false;
  /** The execution is not the newest: its rest is read, and then the newest from its beginning. */
  #isBehind = false;
  /** The execution that was left for the newest; '' where nobody knows. */
  #left: string | null = null;
  #kept: SseFrame[] | null = null;
  /** What it had heard of unfinished text when it fell behind. */
  #heard: SseMark | null = null;
  #takes = 0;
  #beats = 0;

  /** `place`: up to where the client knows the log; 'lost' where it cannot tell. */
  constructor(session: SseSession, log: SseLog | null, place: SsePlace | 'lost' | null) {
    const known = place === 'lost' ? null : place;
    this.#session = session;
    this.#log = log;
    this.#executionId = known?.executionId ?? null;
    this.#seq = known?.after ?? 0;
    this.#shown = this.#seq;
    if (place === 'lost') this.#left = '';
    this.stream = new SseStream({
      wanted: () => this.#readOn(),
      ended: () => session.leave(this),
    });
    if (log) return;
    this.#executionId = session.unfinished.executionId;
    this.#isLive = true;
    this.#writeUnfinished();
    this.stream.owe();
  }

  /** A new frame of the session; `flush` hands it on. */
  take(frame: SseFrame): void {
    if (this.#isLive) {
      this.#accept(frame);
      if (this.#isLive && this.stream.backlog > this.#session.bufferBytes) this.#fallBehind();
      if (!this.#isLive) this.#heard = this.#session.unfinished.mark();
    } else if (this.#kept && frame.seq !== null) {
      if (this.#kept.length < MOST_KEPT) this.#kept.push(frame);
      else this.#kept = null;
    }
  }

  /** A sign of life; whoever gives none back is let go. */
  beat(bytes: Uint8Array): void {
    const { stream } = this;
    if (stream.isEmpty || stream.takes > this.#takes) this.#beats = 0;
    else if (++this.#beats > MOST_BEATS) return this.#session.dropSlow(this);
    this.#takes = stream.takes;
    if (!stream.isEmpty) return;
    stream.write(bytes);
    stream.flush();
  }

  /** Reads the log on, a page each time that the client has taken the last one. */
  async fill(): Promise<void> {
    if (this.#isReading || this.#isLive) return;
    this.#isReading = true;
    try {
      do {
        this.#kept = [];
        if (await this.#page()) this.#goLive();
        this.stream.owe();
        this.stream.flush();
      } while (!this.#isLive && this.stream.isWanted && !this.stream.isEnded);
    } finally {
      this.#isReading = false;
      this.#kept = null;
    }
  }

  #readOn(): void {
    if (this.#isLive) return;
    this.fill().catch((error: unknown) => this.#session.failed(this, error));
  }

  /** True at the end of the newest execution. */
  async #page(): Promise<boolean> {
    const log = this.#log;
    if (!log) return true;
    const executionId = this.#executionId;
    const after = this.#seq;
    if (this.#isBehind && executionId !== null) {
      const rest = await log({ executionId, after });
      await this.#write(rest);
      if (rest.more) return false;
      this.#leave(executionId);
      return false;
    }
    const refill = await log({ after });
    const newest = refill.execution_id;
    if (executionId !== null && newest !== executionId) {
      if (newest === null) this.#leave(executionId);
      else this.#isBehind = true;
      return false;
    }
    if (!refill.more) this.#session.advance(refill);
    if (newest === null) return true;
    const { isBusy } = this.#session;
    const left = this.#left;
    if (left !== null && left !== newest && !this.#session.isNext(left, newest))
      this.stream.write(resetFrame(newest));
    // at rest a log ends with a status: if there is none, it was pruned
    else if (after > 0 && refill.envelopes.length === 0 && refill.seq > after && !isBusy)
      this.stream.write(resetFrame(newest));
    this.#left = null;
    if (newest !== executionId) this.#isAtRest = false;
    this.#executionId = newest;
    await this.#write(refill);
    return !refill.more;
  }

  #leave(executionId: string): void {
    this.#isBehind = false;
    this.#left = executionId;
    this.#executionId = null;
    this.#seq = 0;
    this.#shown = 0;
  }

  async #write({ envelopes, seq }: Refill): Promise<void> {
    const pause = pacer(this.#session.channel);
    for (const envelope of envelopes) {
      this.stream.write(this.#numbered(envelope, null));
      this.#isAtRest = isLast(envelope);
      await pause();
    }
    this.#seq = Math.max(this.#seq, seq);
  }

  /** Between two pages, or two adapters, may lie what was filtered out: to the client that must not look like a gap. */
  #numbered(envelope: Envelope, bytes: Uint8Array | null): Uint8Array {
    const prev = this.#shown;
    this.#shown = envelope.seq ?? prev;
    if ((envelope.prev ?? 0) > prev) return sseBytes({ ...envelope, prev });
    return bytes ?? sseBytes(envelope);
  }

  #goLive(): void {
    const kept = this.#kept;
    if (!kept) return;
    this.#isLive = true;
    for (const frame of kept) {
      this.#accept(frame);
      if (!this.#isLive) return;
    }
    this.#writeUnfinished();
  }

  #writeUnfinished(): void {
    const { unfinished } = this.#session;
    for (const bytes of unfinished.frames(this.#executionId, this.#heard)) this.stream.write(bytes);
    this.#heard = null;
  }

  #accept(frame: SseFrame): void {
    const { executionId, seq, bytes } = frame;
    const prev = frame.prev ?? 0;
    const isSame = executionId === this.#executionId;
    if (seq === null) {
      if (isSame || !this.#log) this.stream.write(bytes);
      return;
    }
    if (isSame && seq <= this.#seq) return;
    if (this.#log && !(isSame ? prev <= this.#seq : prev === 0 && this.#isDone))
      return this.#goBack();
    if (!isSame) {
      if (this.#log && !this.#session.isNext(this.#executionId, executionId))
        this.stream.write(resetFrame(executionId));
      this.#shown = prev;
    }
    this.stream.write(this.#log ? this.#numbered(frame.envelope, bytes) : bytes);
    this.#executionId = executionId;
    this.#seq = seq;
    this.#isAtRest = frame.isLast;
  }

  /** Nothing more can come of the execution that it is told of. */
  get #isDone(): boolean {
    return this.#executionId === null || this.#isAtRest;
  }

  /** More waits than is kept for it: when it has taken that, it reads on in the log. */
  #fallBehind(): void {
    if (!this.#log) return this.#session.dropSlow(this);
    this.#session.fellBehind();
    this.#goBack();
  }

  #goBack(): void {
    this.#isLive = false;
    if (this.stream.isWanted) this.#readOn();
  }
}
