import { isRecord, jsonText, toJsonValue, type JsonObject } from '../../json.ts';
import type { InferenceChunk, InferenceResponse, InferredToolCall } from '../inference-driver.ts';
import { MOST_CALLS } from '../read-response.ts';
import type { PartialAnswer } from '../inference-error.ts';
import type { Usage } from '../usage.ts';
import type { KeptPart } from './ai-sdk-parts.ts';
import { aiSdkUsage } from './ai-sdk-usage.ts';
import { finishReasonOf, readCall, string } from './chat-message.ts';

interface PartialToolCall {
  readonly id: string;
  readonly index: number;
  readonly part: GrowingPart;
  name: string;
  args: string;
  isWhole: boolean;
}

/** A part as it will be kept, while it grows. */
interface GrowingPart {
  readonly type: KeptPart['type'];
  /** Of the stream, to find it again. */
  readonly id: string;
  text: string;
  readonly call?: number;
  options: JsonObject | null;
}

/** Puts an answer together from the parts of any specification, streamed or whole. */
export class AiSdkAnswer {
  readonly #provider: string;
  #text = '';
  #word: string | null = null;
  #usage: Partial<Usage> | null = null;
  readonly #parts: GrowingPart[] = [];
  readonly #calls: PartialToolCall[] = [];
  /** Parts by type and id, and calls by id: an answer may have any number of them. */
  readonly #partsById: Map<string, GrowingPart> = new Map();
  readonly #callsById: Map<string, PartialToolCall[]> = new Map();
  #hasWord = false;

  constructor(provider: string) {
    this.#provider = provider;
  }

  /**
   * Whether a stream that ends here is whole. Packages say so of any end and complete what was cut, so only the word
   * of the provider tells.
   */
  get isFinished(): boolean {
    return this.#hasWord;
  }

  get partial(): PartialAnswer {
    const toolCalls = this.#toolCalls(true);
    return {
      ...(this.#text === '' ? null : { content: this.#text }),
      ...(toolCalls.length === 0 ? null : { toolCalls }),
      ...(this.#usage === null ? null : { usage: this.#usage }),
    };
  }

  /** A part of a whole answer. */
  take(part: unknown): void {
    if (!isRecord(part)) return;
    const { type } = part;
    if (type === 'text' || type === 'reasoning') this.#grow(type, '', string(part['text']), part);
    else if (type === 'tool-call') this.#complete(part, []);
  }

  /** A part of a stream, and what it adds. */
  read(part: unknown): InferenceChunk[] {
    if (!isRecord(part)) return [];
    const delta = string(part['delta']);
    const id = string(part['id']);
    const out: InferenceChunk[] = [];
    switch (part['type']) {
      case 'text-delta':
      case 'text-start':
      case 'text-end':
        this.#grow('text', id, delta, part);
        if (delta !== '') out.push({ type: 'content', text: delta });
        break;
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        this.#grow('reasoning', id, delta, part);
        if (delta !== '') out.push({ type: 'reasoning', text: delta });
        break;
      case 'tool-input-start':
        if (part['providerExecuted'] !== true) this.#begin(id, string(part['toolName']));
        break;
      case 'tool-input-delta':
        this.#growCall(id, delta, out);
        break;
      case 'tool-call':
        this.#complete(part, out);
        break;
      case 'finish':
        this.finish(part);
        if (this.#usage) out.push({ type: 'usage', usage: this.#usage });
        break;
      default:
    }
    return out;
  }

  finish({ finishReason, usage }: Record<string, unknown>): void {
    const { unified, raw } = isRecord(finishReason) ? finishReason : { unified: finishReason };
    this.#word = string(unified) || null;
    const isTold = raw === undefined ? unified !== 'unknown' && unified !== 'other' : true;
    this.#hasWord = this.#word !== null && isTold;
    this.#usage = aiSdkUsage(usage);
  }

  response(): InferenceResponse {
    const toolCalls = this.#toolCalls(finishReasonOf(this.#word, false) === 'length');
    const reasoning = this.#parts.filter(({ type }) => type === 'reasoning');
    const metadata = this.#kept();
    return {
      content: this.#text,
      toolCalls,
      reasoning: reasoning.map(({ text }) => text).join('') || null,
      refusal: null,
      finishReason: finishReasonOf(this.#word, toolCalls.length > 0),
      usage: this.#usage,
      ...(metadata ? { metadata } : null),
    };
  }

  #toolCalls(cutOff: boolean): InferredToolCall[] {
    return this.#calls.map(({ id, name, args, isWhole }) =>
      readCall(id, name, args, cutOff && !isWhole),
    );
  }

  /** Text and reasoning; what a provider adds to them comes with the beginning, a piece or the end. */
  #grow(
    type: 'text' | 'reasoning',
    id: string,
    delta: string,
    source: Record<string, unknown>,
  ): void {
    const key = `${type} ${id}`;
    const open = id === '' ? undefined : this.#partsById.get(key);
    const part = open ?? { type, id, text: '', options: null };
    if (!open) {
      this.#parts.push(part);
      this.#partsById.set(key, part);
    }
    if (type === 'text') this.#text += delta;
    part.text += delta;
    const options = optionsOf(source);
    if (options) part.options = { ...part.options, ...options };
  }

  #begin(id: string, name: string): PartialToolCall {
    const index = this.#calls.length;
    const part: GrowingPart = { type: 'call', id: '', text: '', call: index, options: null };
    const call: PartialToolCall = { id, index, part, name, args: '', isWhole: false };
    this.#parts.push(part);
    this.#calls.push(call);
    const same = this.#callsById.get(id);
    if (same) same.push(call);
    else this.#callsById.set(id, [call]);
    return call;
  }

  #growCall(id: string, argsDelta: string, out: InferenceChunk[]): void {
    const call = this.#callsById.get(id)?.at(-1);
    if (!call || call.isWhole || argsDelta === '') return;
    call.args += argsDelta;
    out.push({ type: 'tool_call', index: call.index, id: id || null, name: call.name, argsDelta });
  }

  /** The whole call counts over what was streamed of it. */
  #complete(part: Record<string, unknown>, out: InferenceChunk[]): void {
    if (part['providerExecuted'] === true) return;
    const id = string(part['toolCallId']);
    const name = string(part['toolName']);
    const { input } = part;
    const streamed = this.#nextOpen(id);
    const call = streamed ?? this.#begin(id, name);
    const { index } = call;
    Object.assign(call, {
      name,
      args: typeof input === 'string' ? input : (jsonText(input ?? {}) ?? ''),
      isWhole: true,
    });
    const options = optionsOf(part);
    if (options) call.part.options = options;
    if (!streamed)
      out.push({ type: 'tool_call', index, id: id || null, name, argsDelta: call.args });
  }

  /** The oldest call with this id that is not whole; those before it are forgotten. */
  #nextOpen(id: string): PartialToolCall | undefined {
    const same = this.#callsById.get(id) ?? [];
    while (same.length > 1 && same[0]?.isWhole) same.shift();
    return same[0]?.isWhole ? undefined : same[0];
  }

  /** Only where there is something that the provider wants back: signed reasoning, marks on texts and calls. */
  #kept(): JsonObject | null {
    const parts = this.#parts.filter(
      ({ type, text, call = 0 }) => (type !== 'text' || text !== '') && call <= MOST_CALLS,
    );
    if (!parts.some(({ type, options }) => type === 'reasoning' || options)) return null;
    const kept = parts.map(({ type, text, call, options }): KeptPart => ({
      type,
      ...(type === 'reasoning' ? { text } : null),
      ...(type === 'text' ? { length: text.length } : null),
      ...(call === undefined ? null : { call }),
      ...(options ? { options } : null),
    }));
    return { aiSdk: toJsonValue({ provider: this.#provider, parts: kept }) };
  }
}

function optionsOf({ providerMetadata }: Record<string, unknown>): JsonObject | null {
  return isRecord(providerMetadata) ? (providerMetadata as JsonObject) : null; // made plain when kept
}
