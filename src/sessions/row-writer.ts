import { utf8Bytes } from '../json.ts';
import { rowTooLarge } from './session-errors.ts';
import { packed, type KeepLarge } from './large-values.ts';
import type { BlobRow } from './session-rows.ts';
import type { SessionStore } from './session-store.ts';
import { sha256 } from '../sha256.ts';

/** Turns values into the texts of rows: extracts large values, applies the store's codec and checks the size. */
export class RowWriter {
  readonly #store: SessionStore;
  readonly #salt: string;
  /** Large values that are in the store, as `scope/hash`. */
  readonly #known: Set<string> = new Set();
  #blobs: BlobRow[] = [];

  constructor(store: SessionStore, salt: string) {
    this.#store = store;
    this.#salt = salt;
  }

  /**
   * Returns the text of a row. `scope` is the execution that its large values belong to, or `''` for the whole session.
   */
  body(what: string, value: unknown, scope: string): string | Promise<string> {
    const text = packed(value, this.#keeper(scope));
    if (typeof text !== 'string' || this.#store.codec) return this.#encoded(what, text);
    return this.#checked(what, text);
  }

  /** Returns the text of a row without extracting large values. */
  async plain(what: string, value: unknown): Promise<string> {
    return this.#encoded(what, JSON.stringify(value));
  }

  /** Stores a text outside the row, whatever its length. Returns its name. */
  keep(text: string, scope: string): Promise<string> {
    return this.#keeper(scope)(text);
  }

  /** Returns the name that a text is, or would be, stored under. */
  name(text: string): string {
    return this.#nameOf(JSON.stringify(text));
  }

  /** Whether a large value of the whole session is in the store already. */
  isStored(name: string): boolean {
    return this.#known.has(`/${name}`);
  }

  /** Removes and returns the large values for the next commit. */
  takeBlobs(): BlobRow[] {
    const blobs = this.#blobs;
    this.#blobs = [];
    return blobs;
  }

  /** Marks the large values of a written commit as stored, so that they are not sent again. */
  stored(blobs: readonly Pick<BlobRow, 'scope' | 'hash'>[]): void {
    for (const { scope, hash } of blobs) this.#known.add(`${scope}/${hash}`);
  }

  async #encoded(what: string, text: string | Promise<string>): Promise<string> {
    const { codec } = this.#store;
    const plain = await text;
    return this.#checked(what, codec ? await codec.encode(plain) : plain);
  }

  #checked(what: string, text: string): string {
    const { maxBytes } = this.#store;
    if (text.length * 3 > maxBytes) {
      const bytes = utf8Bytes(text);
      if (bytes > maxBytes) throw rowTooLarge(what, bytes, maxBytes);
    }
    return text;
  }

  #nameOf(json: string): string {
    return sha256(`${this.#salt}:${json}`);
  }

  #keeper(scope: string): KeepLarge {
    return async (text) => {
      // as JSON, because a text may have characters that a column or a digest cannot represent
      const json = JSON.stringify(text);
      const hash = this.#nameOf(json);
      const has = (in_: string): boolean =>
        this.#known.has(`${in_}/${hash}`) ||
        this.#blobs.some((blob) => blob.scope === in_ && blob.hash === hash);
      if (has('') || has(scope)) return hash;
      const body = await this.#encoded('large value', json);
      this.#blobs.push({ scope, hash, body });
      return hash;
    };
  }
}

/** Returns the text of a row that refers to no large values. */
export const plainBody = (store: SessionStore, value: unknown): Promise<string> =>
  new RowWriter(store, '').plain('value', value);
