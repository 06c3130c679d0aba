/** Length of the window in milliseconds. */
export const WINDOW_MS = 60_000;

/** Number of expired entries that may stay in the list before it is shortened. */
const MAX_EXPIRED = 1_024;

/** A request in the window. */
export interface WindowEntry {
  readonly at: number;
  tokens: number;
}

/** The requests of the last minute and the sum of their tokens. Each entry is added and removed once. */
export class LimitWindow {
  #entries: WindowEntry[] = [];
  /** Index of the oldest entry that counts. */
  #first = 0;
  #tokens = 0;

  /** Number of requests in the window. */
  get requests(): number {
    return this.#entries.length - this.#first;
  }
  get tokens(): number {
    return this.#tokens;
  }

  add(at: number, tokens: number): WindowEntry {
    const entry = { at, tokens };
    this.#entries.push(entry);
    this.#tokens += tokens;
    return entry;
  }

  /** Replaces an estimate with what the request used, if it still counts. */
  correct(entry: WindowEntry, tokens: number, now: number): void {
    this.expire(now);
    if (now - entry.at < WINDOW_MS) this.#tokens += tokens - entry.tokens;
    entry.tokens = tokens;
  }

  /** Removes what is older than a minute. */
  expire(now: number): void {
    for (;;) {
      const entry = this.#entries[this.#first];
      if (!entry || now - entry.at < WINDOW_MS) break;
      this.#tokens -= entry.tokens;
      this.#first += 1;
    }
    if (this.requests === 0) this.#tokens = 0;
    if (this.#first === 0) return;
    if (this.#first < MAX_EXPIRED && this.#first < this.#entries.length) return;
    if (2 * this.#first < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#first);
    this.#first = 0;
  }

  /** Milliseconds until the oldest request leaves the window; 0 if it is empty. */
  msToNext(now: number): number {
    const entry = this.#entries[this.#first];
    return entry ? Math.max(0, entry.at + WINDOW_MS - now) : 0;
  }
}
