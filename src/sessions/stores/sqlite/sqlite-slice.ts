/** How long one transaction works: others of this process and of other ones wait for it. */
const SLICE_MS = 8;
/** How much text one transaction writes or drops. */
export const SLICE_BYTES: number = 1024 * 1024;
/** How many rows are looked for at a time. */
export const SLICE_ROWS = 100;

/** A row that is to be worked on. */
export interface SizedRow {
  readonly row: number;
  readonly bytes: number;
}

/** What one transaction of a long work may do, whatever the rows hold. The first row always fits. */
export class Slice {
  readonly #endsAt = performance.now() + SLICE_MS;
  #rows = 0;
  #bytes = 0;

  /** False if the row is left to the next transaction. */
  take(bytes: number): boolean {
    if (this.#rows > 0 && (this.#bytes + bytes > SLICE_BYTES || this.isOver)) return false;
    this.#rows += 1;
    this.#bytes += bytes;
    return true;
  }

  get isOver(): boolean {
    return this.#bytes >= SLICE_BYTES || performance.now() >= this.#endsAt;
  }
}
