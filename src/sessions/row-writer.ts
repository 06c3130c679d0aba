import { utf8Bytes } from '../json.ts';
import { rowTooLarge } from './session-errors.ts';
import { packed, type KeepLarge } from './large-values.ts';
import type { BlobRow } from './session-rows.ts';
import type { SessionStore } from './session-store.ts';
import { sha256 } from '../sha256.ts';

/** Turns values into the texts of rows: large values apart, through the store's codec, and never too large. */
export class RowWriter {
  readonly #store: SessionStore;
  readonly #salt: string;
  /** Large values that the store has, as `scope/hash`. */
  readonly #known: Set<string> = new Set();
  #blobs: BlobRow[] = [];

  constructor(store: SessionStore, salt: string) {
    this.#store = store;
    this.#salt = salt;
  }

  /** The text of a row. `scope` says how long its large values are needed: `''` as long as the session. */
  body(what: string, value: unknown, scope: string): string | Promise<string> {
    const text = packed(value, this.#keeper(scope));
    if (typeof text !== 'string' || this.#store.codec) return this.#encoded(what, text);
    return this.#checked(what, text);
  }

  /** The text of a row that must stand by itself. */
  async plain(what: string, value: unknown): Promise<string> {
    return this.#encoded(what, JSON.stringify(value));
  }

  /** Keeps a text apart, whatever its length. */
  keep(text: string, scope: string): Promise<string> {
    return this.#keeper(scope)(text);
  }

  /** Large values that have to go with the next commit. */
  takeBlobs(): BlobRow[] {
    const blobs = this.#blobs;
    this.#blobs = [];
    return blobs;
  }

  /** The commit was written: its large values need not be sent again. */
  stored(blobs: readonly BlobRow[]): void {
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

  #keeper(scope: string): KeepLarge {
    return async (text) => {
      // as JSON: a text may hold what a column, or a digest, cannot
      const json = JSON.stringify(text);
      const hash = sha256(`${this.#salt}:${json}`);
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

/** The text of a row that refers to nothing. */
export const plainBody = (store: SessionStore, value: unknown): Promise<string> =>
  new RowWriter(store, '').plain('value', value);
