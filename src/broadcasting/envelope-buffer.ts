import type { Broadcaster } from './broadcaster.ts';
import { isLast, type Envelope } from './envelope.ts';

/** Envelopes of one channel that wait, oldest first, never more than `size`. */
export class EnvelopeBuffer {
  readonly #size: number;
  #waiting: Envelope[] = [];
  /** How many of them are transient. */
  #fleeting = 0;

  constructor(size: number) {
    this.#size = size;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Adds one; returns what had to leave for it, which may be itself. */
  add(envelope: Envelope): readonly Envelope[] {
    const isFull = this.#waiting.length >= this.#size;
    if (isTransient(envelope)) {
      // nothing that is in the log leaves for it
      if (isFull) return [...this.#takeFleeting(), envelope];
      this.#fleeting += 1;
    }
    const left = isFull ? this.#makeRoom() : none;
    this.#waiting.push(envelope);
    return left;
  }

  /** As many as go into one call, from the front; empty if none wait. */
  take(broadcaster: Broadcaster, channel: string): readonly Envelope[] {
    const waiting = this.#waiting;
    const count = waiting.length <= 1 ? waiting.length : fitting(waiting, broadcaster, channel);
    if (count === waiting.length) return this.takeAll();
    const taken = waiting.splice(0, count);
    for (const envelope of taken) if (isTransient(envelope)) this.#fleeting -= 1;
    return taken;
  }

  takeAll(): readonly Envelope[] {
    const all = this.#waiting;
    if (all.length === 0) return none;
    this.#waiting = [];
    this.#fleeting = 0;
    return all;
  }

  /**
   * Keeps the newest status alone, by which readers learn that they missed something; returns the others. `taken` was
   * taken before, and is older than what waits.
   */
  lean(taken: readonly Envelope[]): readonly Envelope[] {
    const all = [...taken, ...this.takeAll()];
    const kept = all.findLast(isStatus);
    if (!kept) return all;
    this.#waiting = [kept];
    return all.filter((envelope) => envelope !== kept);
  }

  /** First everything that a finished message supersedes, then what is oldest; a status late, a last word last of all. */
  #makeRoom(): readonly Envelope[] {
    if (this.#fleeting > 0) return this.#takeFleeting();
    const waiting = this.#waiting;
    let place = waiting.findIndex((envelope) => !isStatus(envelope));
    if (place < 0) place = waiting.findIndex((envelope) => !isLast(envelope));
    return waiting.splice(Math.max(0, place), 1);
  }

  #takeFleeting(): readonly Envelope[] {
    if (this.#fleeting === 0) return none;
    const waiting = this.#waiting;
    this.#waiting = waiting.filter((envelope) => !isTransient(envelope));
    this.#fleeting = 0;
    return waiting.filter(isTransient);
  }
}

const isStatus = ({ type }: Envelope): boolean => type === 'agent.status';

const none: readonly Envelope[] = Object.freeze([]);

/** Chunks and deltas: a text with a hole is of no use, so they leave together. */
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

/** An envelope that cannot be measured goes alone, and its send reports why. */
function costOf(broadcaster: Broadcaster, channel: string, envelope: Envelope): number {
  try {
    return broadcaster.frameCost?.({ channel, envelope }) ?? jsonBytes(envelope);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

export const jsonBytes = (envelope: Envelope): number =>
  new TextEncoder().encode(JSON.stringify(envelope)).length;
