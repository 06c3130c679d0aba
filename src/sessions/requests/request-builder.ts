import { noCompactions, type Compaction } from '../../agent/compaction.ts';
import { modelView } from '../../agent/model-view.ts';
import type { InferenceRequest } from '../../inference/inference-driver.ts';
import { Message, type MessageJSON } from '../../messages/message.ts';
import { Messages } from '../../messages/messages.ts';
import type { ToolSchema } from '../../tools/tool.ts';
import { leadingRows } from '../load-conversation.ts';
import type { RowReader } from '../row-reader.ts';
import type { CompactionRow, MessageRow } from '../session-rows.ts';
import { loadedCompaction, type StoredCompaction } from '../state-rows.ts';
import type { RequestFrame, StoredChange, StoredRequest } from './stored-request.ts';

/** The messages of a request; a message that is in several requests is the same object. */
export interface BuiltMessages {
  readonly messages: Messages;
  readonly compactions: readonly Compaction[];
}

/** Rebuilds requests of one agent from their records. Reads each row once, however many requests have it. */
export class RequestBuilder {
  readonly #reader: RowReader;
  readonly #sessionId: string;
  readonly #agentId: string;
  readonly #messages: Map<number, Message> = new Map();
  readonly #compactions: Map<number, Compaction> = new Map();
  readonly #texts: Map<string, string> = new Map();

  constructor(reader: RowReader, sessionId: string, agentId: string) {
    this.#reader = reader;
    this.#sessionId = sessionId;
    this.#agentId = agentId;
  }

  /** Returns the request exactly as the driver got it. */
  async request(stored: StoredRequest): Promise<InferenceRequest> {
    const { messages } = await this.messages(stored);
    const { system, tools, rest } = await this.frame(stored);
    return {
      system: system === null ? null : await this.#text(system),
      messages,
      tools: tools === null ? [] : await this.#tools(tools),
      ...(rest as Pick<InferenceRequest, 'toolChoice' | 'responseFormat'>), // what the driver got besides
    };
  }

  /** Reads what is around the messages. Equal names are equal parts. */
  async frame({ frame }: StoredRequest): Promise<RequestFrame> {
    return JSON.parse(await this.#text(frame)) as RequestFrame;
  }

  async messages(stored: StoredRequest): Promise<BuiltMessages> {
    const { from = 0, to, compactions: count, changes } = stored;
    const rows = await this.#rows(from, to);
    const leading =
      from === 0
        ? []
        : await leadingRows(this.#reader.store, {
            sessionId: this.#sessionId,
            agentId: this.#agentId,
            before: from,
            first: rows[0],
          });
    const all = Messages.from(await this.#values([...leading, ...rows]));
    const compactions =
      count === undefined || count === 0
        ? noCompactions
        : await this.#compactionsBefore(count, from - leading.length, leading.length);
    const view = count === undefined ? all : modelView(all, compactions);
    if (changes === undefined) return { messages: view, compactions };
    const changed: Message[] = [];
    for (const name of changes.before ?? [])
      for (const change of JSON.parse(await this.#text(name)) as StoredChange[])
        changed.push(...(await this.#changed(change, view)));
    for (const change of changes.last) changed.push(...(await this.#changed(change, view)));
    return { messages: Messages.from(changed), compactions };
  }

  async #changed(change: StoredChange, view: Messages): Promise<readonly Message[]> {
    if (typeof change === 'string')
      return [Message.from(JSON.parse(await this.#text(change)) as MessageJSON)];
    return Array.isArray(change)
      ? view.slice(change[0] as number, change[1] as number)
      : [Message.from(change as MessageJSON)];
  }

  #rows(from: number, to: number): Promise<readonly MessageRow[]> {
    const range = { from, before: to };
    return this.#reader.store.messages(this.#sessionId, this.#agentId, range);
  }

  async #values(rows: readonly MessageRow[]): Promise<readonly Message[]> {
    const missing = rows.filter(({ position }) => !this.#messages.has(position));
    const read = await this.#reader.values<MessageJSON>(missing);
    for (const [i, { position }] of missing.entries()) {
      const json = read[i];
      if (json) this.#messages.set(position, Message.from(json));
    }
    return rows.flatMap(({ position }) => this.#messages.get(position) ?? []);
  }

  async #compactionsBefore(
    count: number,
    offset: number,
    leading: number,
  ): Promise<readonly Compaction[]> {
    const { store } = this.#reader;
    const rows: readonly CompactionRow[] = await store.compactions(this.#sessionId, this.#agentId, {
      before: count,
    });
    const stored = await this.#reader.values<StoredCompaction>(rows, 'text');
    return stored.map(({ results: _r, messageCount: _m, ...compaction }, i) => {
      const key = (rows[i]?.position ?? i) * 1e9 + offset;
      let loaded = this.#compactions.get(key);
      if (loaded === undefined)
        this.#compactions.set(key, (loaded = loadedCompaction(compaction, offset, leading)));
      return loaded;
    });
  }

  async #tools(name: string): Promise<readonly ToolSchema[]> {
    const names = JSON.parse(await this.#text(name)) as readonly string[];
    const missing = names.filter((each) => !this.#texts.has(each));
    for (const [each, text] of await this.#reader.large(missing)) this.#texts.set(each, text);
    const schemas: ToolSchema[] = [];
    for (const each of names) schemas.push(JSON.parse(await this.#text(each)) as ToolSchema);
    return schemas;
  }

  async #text(name: string): Promise<string> {
    const known = this.#texts.get(name);
    if (known !== undefined) return known;
    const text = (await this.#reader.large([name])).get(name);
    if (text === undefined) throw new MissingPart(name);
    this.#texts.set(name, text);
    return text;
  }
}

/** A part of a request that is not in the store any more. */
export class MissingPart extends Error {
  override readonly name = 'MissingPart';
  constructor(name: string) {
    super(`A part of the request (${name.slice(0, 12)}…) is not in the store any more.`);
  }
}
