import type { DurableAgent } from '../../agent/durable-agent.ts';
import type { SentRequest } from '../../agent/journal.ts';
import type { InferenceRequest } from '../../inference/inference-driver.ts';
import type { Message } from '../../messages/message.ts';
import type { RowWriter } from '../row-writer.ts';
import type { Placement } from '../state-rows.ts';
import { requestChanges, type RequestChange } from './request-changes.ts';
import {
  CHANGES_TOGETHER,
  type RequestFrame,
  type StoredChange,
  type StoredChanges,
  type StoredRequest,
} from './stored-request.ts';

type RequestParts = Pick<InferenceRequest, 'system' | 'tools'> & Partial<InferenceRequest>;

/** Longest JSON of a message that is stored in the record of a request itself. */
const SHORT_MESSAGE = 400;

/** Makes the records of requests. Keeps their parts as large values, each once. */
export class RequestWriter {
  readonly #rows: RowWriter;
  #frameName: string | null;
  /** The newest frame, as most steps have the same one. */
  #newest: { readonly request: InferenceRequest; readonly name: string } | null = null;
  /** Names of changed messages of the newest request, by id: hooks that change a message do it in each step. */
  #changed: Map<string, { readonly json: string; readonly name: string }> = new Map();

  /** Takes the names of frames that are stored for the whole session; `frame` is that of requests. */
  constructor(rows: RowWriter, frame: string | null, definition: string | null) {
    this.#rows = rows;
    this.#frameName = frame;
    for (const hash of [frame, definition]) if (hash !== null) rows.stored([{ scope: '', hash }]);
  }

  /** Name of the newest frame of the whole session, which the next run then need not write again. */
  get frame(): string | null {
    return this.#frameName;
  }

  /** Returns the record. Its parts belong to the execution, but those that are the same in the next one to `scope`. */
  async stored(
    sent: SentRequest,
    placement: Placement,
    { scope, executionId }: { readonly scope: string; readonly executionId: string },
  ): Promise<StoredRequest> {
    const { request, view, compactions, prompt } = sent;
    const from = placement.messages + placement.leading;
    const stored: { -readonly [K in keyof StoredRequest]: StoredRequest[K] } = {
      frame: await this.#frame(request, request.system === prompt ? scope : executionId),
      to: sent.messages + placement.messages,
    };
    if (from > 0) stored.from = from;
    if (compactions !== null) stored.compactions = compactions.length + placement.compactions;
    if (request.messages !== view)
      stored.changes = await this.#changes(requestChanges(request.messages, view), executionId);
    return stored;
  }

  /** Returns the name of the prompt and tools of an agent, which requests share. */
  definition({ systemPrompt, tools }: DurableAgent['definition']): Promise<string> {
    return this.#kept({ system: systemPrompt, tools }, '');
  }

  /** Forgets all names, because what they name was not written. */
  forget(): void {
    this.#newest = null;
    this.#frameName = null;
    this.#changed.clear();
  }

  async #frame(request: InferenceRequest, scope: string): Promise<string> {
    const newest = this.#newest;
    if (newest && hasSameFrame(newest.request, request)) return newest.name;
    const name = await this.#kept(request, scope);
    if (scope === '') this.#frameName = name;
    this.#newest = { request, name };
    return name;
  }

  /** Stores the parts of a frame, unless the session has them, and returns the name of the frame. */
  async #kept(
    { system, tools, messages: _messages, ...rest }: RequestParts,
    scope: string,
  ): Promise<string> {
    const schemas = tools.map((schema) => JSON.stringify(schema));
    const list = JSON.stringify(schemas.map((text) => this.#rows.name(text)));
    const frame: RequestFrame = {
      system: system === null ? null : this.#rows.name(system),
      tools: tools.length === 0 ? null : this.#rows.name(list),
      rest,
    };
    const text = JSON.stringify(frame);
    const name = this.#rows.name(text);
    // what is stored for the whole session is stored with its parts
    if (this.#rows.isStored(name)) return name;
    const parts = [...schemas, ...(tools.length > 0 ? [list] : []), text];
    for (const part of system === null ? parts : [system, ...parts])
      await this.#rows.keep(part, scope);
    return name;
  }

  async #changes(changes: readonly RequestChange[], scope: string): Promise<StoredChanges> {
    const before = this.#changed;
    this.#changed = new Map();
    const all: StoredChange[] = [];
    for (const change of changes)
      all.push(isRange(change) ? change : await this.#message(change, before, scope));
    const lists: string[] = [];
    const lastAt = Math.floor(Math.max(0, all.length - 1) / CHANGES_TOGETHER) * CHANGES_TOGETHER;
    for (let i = 0; i < lastAt; i += CHANGES_TOGETHER)
      lists.push(await this.#rows.keep(JSON.stringify(all.slice(i, i + CHANGES_TOGETHER)), scope));
    const last = all.slice(lastAt);
    return lists.length === 0 ? { last } : { before: lists, last };
  }

  async #message(
    message: Message,
    before: ReadonlyMap<string, { readonly json: string; readonly name: string }>,
    scope: string,
  ): Promise<StoredChange> {
    const json = JSON.stringify(message);
    if (json.length <= SHORT_MESSAGE) return message.toJSON();
    const known = before.get(message.id);
    const name = known?.json === json ? known.name : await this.#rows.keep(json, scope);
    this.#changed.set(message.id, { json, name });
    return name;
  }
}

const isRange = (change: RequestChange): change is readonly [number, number] =>
  Array.isArray(change);

/** Whether everything but the messages is the same object, so that nothing needs to be read. */
function hasSameFrame(before: InferenceRequest, request: InferenceRequest): boolean {
  const keys = Object.keys(request) as (keyof InferenceRequest)[];
  return (
    keys.length === Object.keys(before).length &&
    keys.every((key) => key === 'messages' || before[key] === request[key])
  );
}
