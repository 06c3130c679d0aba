import { AgentError } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import { pacer } from '../pacing.ts';
import { filled, hashesOf, readPacked, type PackedRow } from './large-values.ts';
import type { SessionRow } from './session-rows.ts';
import type { SessionStore } from './session-store.ts';
import type { StateHeader } from './state-rows.ts';

/** Large values that are read from the store in one go. */
const BLOBS_AT_ONCE = 16;

/** What fit, and how many characters of JSON it is. */
interface Fitting<T> {
  readonly values: readonly T[];
  readonly characters: number;
}

/** Reads the texts of a session's rows back: through the codec, with large values in their places. */
export class RowReader {
  readonly store: SessionStore;
  readonly #sessionId: string;
  readonly #owner: string;

  constructor(store: SessionStore, { id, owner }: Pick<SessionRow, 'id' | 'owner'>) {
    this.store = store;
    this.#sessionId = id;
    this.#owner = owner;
  }

  /** What the rows hold, all of it. `only` names the one field whose large values are wanted; others are null. */
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

  /** What the first rows hold that fit into so many characters; the first row always does. */
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

  /** How many of the first rows fit into so many characters, large values included. */
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

  /** With the number of characters that it took. */
  async sizedHead(
    body: string,
  ): Promise<{ readonly head: StateHeader; readonly characters: number }> {
    const { values, characters } = await this.fitting<StateHeader>([{ body }], 0);
    const [head] = values;
    if (isRecord(head) && head.version === 1) return { head, characters };
    throw new AgentError(
      'unsupported_state_version',
      `Session ${this.#sessionId} was written by a newer release: upgrade onward here.`,
      { details: { sessionId: this.#sessionId } },
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
      `A row of session ${this.#sessionId} in the ${name} store is not what was written: the data is damaged, or ` +
        'needs a codec. Restore a backup, or give the store the codec that wrote it.',
      { cause, details: { sessionId: this.#sessionId, reason: 'damaged' } },
    );
  }

  async #read(body: string): Promise<PackedRow> {
    const { codec } = this.store;
    const text = codec ? await codec.decode(body) : body;
    return this.#readable(() => readPacked(text));
  }

  async #filled<T>(rows: readonly PackedRow[]): Promise<readonly T[]> {
    const hashes = hashesOf(rows);
    const large = hashes.length === 0 ? new Map<string, string>() : await this.#large(hashes);
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
    // what we wrote ourselves; states are checked again when they are revived
    return values as readonly T[];
  }

  /** Of a row that does not say: its large values are looked at. */
  async #sizeOf({ refs }: PackedRow): Promise<number> {
    let size = 0;
    for (const [, hash] of refs)
      for (const text of (await this.#large([hash])).values()) size += text.length;
    return size;
  }

  /** A few at a time: one read must not hold the event loop, however much it is. */
  async #large(hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { codec } = this.store;
    const pause = pacer(this.#owner);
    const large = new Map<string, string>();
    for (let i = 0; i < hashes.length; i += BLOBS_AT_ONCE) {
      const some = hashes.slice(i, i + BLOBS_AT_ONCE);
      for (const { hash, body } of await this.store.blobs(this.#sessionId, some)) {
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
