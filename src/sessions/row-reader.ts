import { AgentError } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import { pacer } from '../pacing.ts';
import { filled, hashesOf, readPacked, type PackedRow } from './large-values.ts';
import type { SessionRow } from './session-rows.ts';
import type { SessionStore } from './session-store.ts';
import type { StateHeader } from './state-rows.ts';

/**
 * Most characters of JSON on one page of a list, a history or a log. A larger page ends early, and its cursor
 * continues.
 */
export const PAGE_CHARACTERS = 1_000_000;

/** Rows per read from the store: few at first, because they may be large. */
export const ROWS_AT_ONCE = { first: 16, next: 64 } as const;

/** Large values per read from the store. */
const BLOBS_AT_ONCE = 16;

/** Values that fit, and their number of characters of JSON. */
interface Fitting<T> {
  readonly values: readonly T[];
  readonly characters: number;
}

/** Reads the rows of a session: decodes them and fills in large values. */
export class RowReader {
  readonly store: SessionStore;
  readonly sessionId: string;
  readonly #owner: string;

  constructor(store: SessionStore, { id, owner }: Pick<SessionRow, 'id' | 'owner'>) {
    this.store = store;
    this.sessionId = id;
    this.#owner = owner;
  }

  /** Reads all values of the rows. `only` names the one field whose large values are read; others are null. */
  async values<T>(
    rows: readonly { readonly body: string }[],
    only?: keyof T & string,
  ): Promise<readonly T[]> {
    const pause = pacer(this.#owner);
    const packed: PackedRow[] = [];
    for (const row of rows) {
      const read = await this.#read(row.body);
      packed.push(
        only === undefined
          ? read
          : { ...read, refs: read.refs.filter(([[field]]) => field === only) },
      );
      await pause();
    }
    return this.#filled<T>(packed);
  }

  /** Reads the values of the first rows that fit into `maxCharacters`; the first row always fits. */
  async fitting<T>(
    rows: readonly { readonly body: string }[],
    maxCharacters: number,
    omitLarge: boolean = false,
  ): Promise<Fitting<T>> {
    const pause = pacer(this.#owner);
    const packed: PackedRow[] = [];
    let characters = 0;
    for (const { body } of rows) {
      const whole = await this.#read(body);
      const read = omitLarge ? { ...whole, refs: [], characters: body.length } : whole;
      const size = read.characters ?? (await this.#sizeOf(read));
      if (packed.length > 0 && characters + size > maxCharacters) break;
      packed.push(read);
      characters += size;
      await pause();
    }
    return { values: await this.#filled<T>(packed), characters };
  }

  /** Counts the first rows that fit into `maxCharacters`, including large values. */
  async countFitting(
    rows: readonly { readonly body: string }[],
    maxCharacters: number,
  ): Promise<number> {
    const isPlain = !this.store.codec && !rows.some(({ body }) => body.startsWith('@'));
    if (isPlain && rows.reduce((sum, { body }) => sum + body.length, 0) <= maxCharacters)
      return rows.length;
    let characters = 0;
    for (const [count, { body }] of rows.entries()) {
      const read = await this.#read(body);
      characters += read.characters ?? (await this.#sizeOf(read));
      if (characters > maxCharacters && count > 0) return count;
    }
    return rows.length;
  }

  async head(body: string): Promise<StateHeader> {
    return (await this.sizedHead(body)).head;
  }

  /** Reads a header, with its number of characters. */
  async sizedHead(
    body: string,
  ): Promise<{ readonly head: StateHeader; readonly characters: number }> {
    const { values, characters } = await this.fitting<StateHeader>([{ body }], 0);
    const [head] = values;
    if (isRecord(head) && head.version === 1) return { head, characters };
    throw new AgentError(
      'unsupported_state_version',
      `Session ${this.sessionId} was written by a newer release. Upgrade onward here.`,
      { details: { sessionId: this.sessionId } },
    );
  }

  #readable<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw error instanceof SyntaxError ? this.#unreadable(error) : error;
    }
  }

  #unreadable(cause: SyntaxError): AgentError {
    const { name } = this.store;
    return new AgentError(
      'store_failed',
      `A row of session ${this.sessionId} in the ${name} store is not what was written: the data is damaged, or ` +
        'needs a codec. Restore a backup, or give the store the codec that wrote it.',
      { cause, details: { sessionId: this.sessionId, reason: 'damaged' } },
    );
  }

  async #read(body: string): Promise<PackedRow> {
    const { codec } = this.store;
    const text = codec ? await codec.decode(body) : body;
    return this.#readable(() => readPacked(text));
  }

  async #filled<T>(rows: readonly PackedRow[]): Promise<readonly T[]> {
    const hashes = hashesOf(rows);
    const large = hashes.length === 0 ? new Map<string, string>() : await this.large(hashes);
    const pause = pacer(this.#owner);
    const values: unknown[] = [];
    for (const row of rows)
      values.push(
        row.refs.length === 0
          ? row.value
          : await filled(row, large, pause).catch((error: unknown) =>
              this.#readable(() => {
                throw error;
              }),
            ),
      );
    // written by this package; states are checked again when they are revived
    return values as readonly T[];
  }

  /** Sums up the large values of a row that does not have their size. */
  async #sizeOf({ refs }: PackedRow): Promise<number> {
    let size = 0;
    for (const [, hash] of refs)
      for (const text of (await this.large([hash])).values()) size += text.length;
    return size;
  }

  /** Reads large values a few at a time, so that a large read does not block the event loop. */
  async large(hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { codec } = this.store;
    const pause = pacer(this.#owner);
    const large = new Map<string, string>();
    for (let i = 0; i < hashes.length; i += BLOBS_AT_ONCE) {
      const some = hashes.slice(i, i + BLOBS_AT_ONCE);
      for (const { hash, body } of await this.store.blobs(this.sessionId, some)) {
        const text = codec ? await codec.decode(body) : body;
        large.set(
          hash,
          this.#readable(() => JSON.parse(text) as string),
        );
        await pause();
      }
    }
    return large;
  }
}
