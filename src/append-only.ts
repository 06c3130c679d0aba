/**
 * An immutable list with O(1) append: lists share one growing buffer, and each reads only its own length. Appending to
 * a list that is not the newest copies the buffer once, so an older list never changes.
 */
export class AppendOnly<T> implements Iterable<T> {
  readonly #buffer: T[];
  readonly #length: number;

  private constructor(buffer: T[], length: number) {
    this.#buffer = buffer;
    this.#length = length;
  }

  static of<T>(items: readonly T[]): AppendOnly<T> {
    return new AppendOnly([...items], items.length);
  }

  /** An object that lists share whose items are the same up to the end of the shorter one. */
  get lineage(): object {
    return this.#buffer;
  }

  get length(): number {
    return this.#length;
  }

  at(index: number): T | undefined {
    const position = index < 0 ? this.#length + index : index;
    return position >= 0 && position < this.#length ? this.#buffer[position] : undefined;
  }

  append(...items: readonly T[]): AppendOnly<T> {
    if (items.length === 0) return this;
    const isNewest = this.#buffer.length === this.#length && this.#length > 0;
    // an empty list is often a constant, which must not keep appended items in memory
    const buffer = isNewest ? this.#buffer : this.#buffer.slice(0, this.#length);
    for (const item of items) buffer.push(item);
    return new AppendOnly(buffer, buffer.length);
  }

  slice(start: number, end: number = this.#length): T[] {
    const position = (index: number) => (index < 0 ? Math.max(0, this.#length + index) : index);
    return this.#buffer.slice(position(start), Math.min(position(end), this.#length));
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (let i = 0; i < this.#length; i++) yield this.#buffer[i] as T; // i is below the length
  }

  toJSON(): T[] {
    return this.slice(0);
  }
}
