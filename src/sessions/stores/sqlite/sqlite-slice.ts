/** How long one transaction works, in milliseconds. Other writers in all processes wait for it. */
const SLICE_MS = 8;
/** Bytes of text that one transaction writes or drops. */
export const SLICE_BYTES: number = 1024 * 1024;
/** Rows per read. */
export const SLICE_ROWS = 100;

/** A row to process, with its size. */
export interface SizedRow {
  readonly row: number;
  readonly bytes: number;
}

/** Limit on one transaction of a long operation, by bytes and time. The first row always fits. */
export class Slice {
  readonly #endsAt = performance.now() + SLICE_MS;
  #rows = 0;
  #bytes = 0;

  /** Takes a row. Returns false if the row is left to the next transaction. */
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
