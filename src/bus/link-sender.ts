import type { BusMessage } from './bus-server.ts';

/** Most characters that may wait. Droppable messages may use half of them. */
const MOST_WAITING = 4_000_000;
/** Most messages and characters in one call to the server. */
const BATCH_MESSAGES = 200;
const BATCH_CHARACTERS = 500_000;
/** Cost of a message in characters, in addition to its payload. */
const OVERHEAD = 100;

const sizeOf = ({ payload }: BusMessage): number => payload.length + OVERHEAD;

/**
 * Sends messages over one link, in order and in bounded memory. Sends the first immediately, and batches those that
 * arrive during a send.
 */
export class LinkSender {
  readonly #publish: (messages: readonly BusMessage[]) => Promise<void>;
  #waiting: BusMessage[] = [];
  #size = 0;
  #sending: Promise<void> | null = null;

  /** `publish` rejects if the link is unusable. */
  constructor(publish: (messages: readonly BusMessage[]) => Promise<void>) {
    this.#publish = publish;
  }

  /** Adds a message. Returns false if it was dropped because too much waits. */
  add(message: BusMessage, isDroppable: boolean): boolean {
    const size = sizeOf(message);
    if (this.#size + size > (isDroppable ? MOST_WAITING / 2 : MOST_WAITING)) return false;
    this.#size += size;
    this.#waiting.push(message);
    this.#sending ??= this.#send();
    return true;
  }

  /** Resolves when no message waits any more. */
  async sent(): Promise<void> {
    await this.#sending;
  }

  async #send(): Promise<void> {
    try {
      while (this.#waiting.length > 0) await this.#publish(this.#take());
    } catch {
      this.#waiting = [];
      this.#size = 0;
    }
    this.#sending = null;
  }

  #take(): readonly BusMessage[] {
    let count = 0;
    let size = 0;
    for (const message of this.#waiting) {
      size += sizeOf(message);
      if (count === BATCH_MESSAGES || (count > 0 && size > BATCH_CHARACTERS)) break;
      count += 1;
    }
    const batch = this.#waiting.splice(0, count);
    for (const message of batch) this.#size -= sizeOf(message);
    return batch;
  }
}
