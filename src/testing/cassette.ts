import type { ErrorReport } from '../errors/error-record.ts';
import type { Redactor } from '../errors/redactor.ts';
import { invalidOption } from '../errors/agent-error.ts';
import type {
  InferenceChunk,
  InferenceRequest,
  InferenceResponse,
} from '../inference/inference-driver.ts';
import type { PartialAnswer } from '../inference/inference-error.ts';
import { canonicalJson, type JsonValue } from '../json.ts';
import type { Message } from '../messages/message.ts';
import { sha256 } from '../sha256.ts';

export const CASSETTE_FORMAT = 'onward.cassette';
export const CASSETTE_VERSION = 1;

/** The first line of a cassette. */
export interface CassetteHeader {
  readonly format: typeof CASSETTE_FORMAT;
  readonly version: typeof CASSETTE_VERSION;
  readonly driver: {
    readonly name: string;
    readonly model?: string;
    readonly contextWindow?: number;
  };
  /** Sources and flags of the patterns whose matches may differ. */
  readonly ignore: readonly (readonly [source: string, flags: string])[];
}

/** What a request has besides its messages. Calls refer to it by its hash, so that it is written once. */
export interface CassetteDefinition {
  readonly definition: string;
  readonly content: JsonValue;
}

/** A message as it was sent, without ids and times of this library. */
export type SentMessage = JsonValue;

/** One model call. */
export interface CassetteCall {
  /** Number of the call, from 1, in the order in which the calls began. */
  readonly call: number;
  readonly hash: string;
  readonly definition: string;
  /** The earlier call whose messages come first; absent if there is none. */
  readonly after?: number;
  /** The messages behind those. */
  readonly messages: readonly SentMessage[];
  /** Chunks of a streamed answer, without the last one; absent if it was not streamed. */
  readonly chunks?: readonly InferenceChunk[];
  /** Exactly one of these: the answer, the failure, or that the run aborted the call. */
  readonly response?: InferenceResponse;
  readonly failure?: { readonly report: ErrorReport; readonly partial: PartialAnswer };
  readonly aborted?: true;
}

/** A request in the form in which requests are compared. */
export interface ComparedRequest {
  readonly hash: string;
  readonly definition: CassetteDefinition;
  readonly messages: readonly SentMessage[];
  /** Hash of the messages up to each of them, to find an earlier call that sent the first of them. */
  readonly prefixes: readonly string[];
}

/** Puts requests into the form in which they are compared and stored: redacted, and without what differs in every run. */
export class RequestReader {
  readonly #redactor: Redactor;
  readonly #ignore: readonly RegExp[];
  /** Messages are frozen, and the same ones are in each request of a run. */
  readonly #known: WeakMap<Message, SentMessage> = new WeakMap();

  constructor(redactor: Redactor, ignore: readonly RegExp[]) {
    this.#redactor = redactor;
    this.#ignore = ignore;
  }

  read(request: InferenceRequest): ComparedRequest {
    const { system, systemCache, tools, toolChoice, responseFormat } = request;
    const content = this.#plain({ system, systemCache, tools, toolChoice, responseFormat });
    const definition = { definition: hashOf(canonicalJson(content)), content };
    const ids = new Map<string, string>();
    const messages = [...request.messages].map((message) => this.#message(message, ids));
    const prefixes: string[] = [];
    let last = '';
    for (const message of messages) {
      last = hashOf(`${last}\n${canonicalJson(message)}`);
      prefixes.push(last);
    }
    return { hash: hashOf(`${definition.definition}\n${last}`), definition, messages, prefixes };
  }

  /** Returns a message with call ids in the order of their first use: ids that were made up differ in every run. */
  #message(message: Message, ids: Map<string, string>): SentMessage {
    const { toolCalls, toolCallId } = message;
    const named = (id: string): string => {
      const known = ids.get(id) ?? `#${ids.size + 1}`;
      ids.set(id, known);
      return known;
    };
    const calls = toolCalls.map(({ id }) => named(id));
    const rest = this.#known.get(message) ?? this.#sent(message);
    this.#known.set(message, rest);
    return {
      ...(rest as object),
      ...(calls.length > 0 && { callIds: calls }),
      ...(toolCallId !== null && { toolCallId: named(toolCallId) }),
    };
  }

  #sent({ role, content, toolCalls, name }: Message): SentMessage {
    const parts =
      typeof content === 'string'
        ? content
        : content.map((part) =>
            part.type !== 'text' && part.data !== undefined
              ? { ...part, data: `sha256:${hashOf(part.data)}` }
              : part,
          );
    const calls = toolCalls.map(({ name: tool, args }) => ({ name: tool, args }));
    return this.#plain({
      role,
      content: parts,
      ...(calls.length > 0 && { toolCalls: calls }),
      ...(name !== null && { name }),
    });
  }

  #plain(value: object): JsonValue {
    const plain = JSON.parse(JSON.stringify(this.#redactor.value(value))) as JsonValue;
    return this.#ignore.length === 0 ? plain : this.#withoutIgnored(plain);
  }

  #withoutIgnored(value: JsonValue): JsonValue {
    if (typeof value === 'string')
      return this.#ignore.reduce((text, pattern) => text.replace(pattern, '[ignored]'), value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value))
      return (value as readonly JsonValue[]).map((item) => this.#withoutIgnored(item));
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, this.#withoutIgnored(inner)]),
    );
  }
}

/** Returns patterns that match everywhere, or throws. */
export function checkedIgnore(patterns: readonly RegExp[] = []): readonly RegExp[] {
  for (const pattern of patterns)
    if (!(pattern instanceof RegExp))
      throw invalidOption('recordModel ignore', pattern, 'regular expressions');
  return patterns.map(
    ({ source, flags }) => new RegExp(source, flags.includes('g') ? flags : `${flags}g`),
  );
}

const hashOf = (text: string): string => sha256(text).slice(0, 32);
