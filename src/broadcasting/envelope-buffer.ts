import type { Broadcaster } from './broadcaster.ts';
import { isLast, type Envelope } from './envelope.ts';

/** Waiting envelopes of one channel, oldest first, at most `size`. */
export class EnvelopeBuffer {
  readonly #size: number;
  #waiting: Envelope[] = [];
  /** How many of them are transient. */
  #transient = 0;

  constructor(size: number) {
    this.#size = size;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Adds an envelope. Returns the envelopes that are dropped for it, which may include itself. */
  add(envelope: Envelope): readonly Envelope[] {
    const isFull = this.#waiting.length >= this.#size;
    if (isTransient(envelope)) {
      // never drop a logged envelope for it
      if (isFull) return [...this.#takeTransient(), envelope];
      this.#transient += 1;
    }
    const left = isFull ? this.#makeSpace() : none;
    this.#waiting.push(envelope);
    return left;
  }

  /** Removes and returns as many as fit into one call, from the front; empty if none wait. */
  take(broadcaster: Broadcaster, channel: string): readonly Envelope[] {
    const waiting = this.#waiting;
    const count = waiting.length <= 1 ? waiting.length : fitting(waiting, broadcaster, channel);
    if (count === waiting.length) return this.takeAll();
    const taken = waiting.splice(0, count);
    for (const envelope of taken) if (isTransient(envelope)) this.#transient -= 1;
    return taken;
  }

  takeAll(): readonly Envelope[] {
    const all = this.#waiting;
    if (all.length === 0) return none;
    this.#waiting = [];
    this.#transient = 0;
    return all;
  }

  /**
   * Keeps only the newest status, which shows readers that they missed something, and returns the others. `taken` was
   * removed earlier and is older than what waits.
   */
  keepStatus(taken: readonly Envelope[]): readonly Envelope[] {
    const all = [...taken, ...this.takeAll()];
    const kept = all.findLast(isStatus);
    if (!kept) return all;
    this.#waiting = [kept];
    return all.filter((envelope) => envelope !== kept);
  }

  /** Drops transient envelopes first, then the oldest; a status later, and the end of a run last. */
  #makeSpace(): readonly Envelope[] {
    if (this.#transient > 0) return this.#takeTransient();
    const waiting = this.#waiting;
    let index = waiting.findIndex((envelope) => !isStatus(envelope));
    if (index < 0) index = waiting.findIndex((envelope) => !isLast(envelope));
    return waiting.splice(Math.max(0, index), 1);
  }

  #takeTransient(): readonly Envelope[] {
    if (this.#transient === 0) return none;
    const waiting = this.#waiting;
    this.#waiting = waiting.filter((envelope) => !isTransient(envelope));
    this.#transient = 0;
    return waiting.filter(isTransient);
  }
}

const isStatus = ({ type }: Envelope): boolean => type === 'agent.status';

const none: readonly Envelope[] = Object.freeze([]);

/** Whether this is a chunk or a delta. They are dropped together: a text with a gap is useless. */
const isTransient = ({ seq }: Envelope): boolean => seq === null;

function fitting(waiting: readonly Envelope[], broadcaster: Broadcaster, channel: string): number {
  const { batchSize = waiting.length, frameBytes } = broadcaster;
  const most = Math.max(1, Math.min(waiting.length, batchSize));
  if (frameBytes === undefined) return most;
  let bytes = 0;
  for (let i = 0; i < most; i++) {
    const envelope = waiting[i];
    if (envelope === undefined) return i;
    bytes += costOf(broadcaster, channel, envelope);
    if (bytes > frameBytes) return Math.max(1, i);
  }
  return most;
}

/** Returns the bytes of an envelope. One that cannot be measured is sent on its own, and its call reports why. */
function costOf(broadcaster: Broadcaster, channel: string, envelope: Envelope): number {
  try {
    return broadcaster.frameCost?.({ channel, envelope }) ?? jsonBytes(envelope);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

export const jsonBytes = (envelope: Envelope): number =>
  new TextEncoder().encode(JSON.stringify(envelope)).length;
