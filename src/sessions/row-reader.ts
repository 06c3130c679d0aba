import { AgentError } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import { unpacked } from './large-values.ts';
import type { SessionStore } from './session-store.ts';
import type { Head } from './state-rows.ts';

/** Reads the texts of a session's rows back: through the codec, with large values in their places. */
export class RowReader {
  readonly store: SessionStore;
  readonly #sessionId: string;

  constructor(store: SessionStore, sessionId: string) {
    this.store = store;
    this.#sessionId = sessionId;
  }

  async values<T>(rows: readonly { readonly body: string }[]): Promise<readonly T[]> {
    const { codec } = this.store;
    const texts: string[] = [];
    for (const { body } of rows) texts.push(codec ? await codec.decode(body) : body);
    try {
      const values = await unpacked(texts, (hashes) => this.#large(hashes));
      return values as readonly T[]; // what we wrote ourselves; states are checked again when they are revived
    } catch (error) {
      throw error instanceof SyntaxError ? this.#unreadable(error) : error;
    }
  }

  async head(body: string): Promise<Head> {
    const [head] = await this.values<Head>([{ body }]);
    if (isRecord(head) && head.version === 1) return head;
    throw new AgentError(
      'unsupported_state_version',
      `Session ${this.#sessionId} was written by a newer release: upgrade onward here.`,
      { details: { sessionId: this.#sessionId } },
    );
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

  async #large(hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { codec } = this.store;
    const large = new Map<string, string>();
    for (const { hash, body } of await this.store.blobs(this.#sessionId, hashes))
      large.set(hash, JSON.parse(codec ? await codec.decode(body) : body) as string);
    return large;
  }
}
