import { isRecord, jsonText, toJsonValue, type JsonObject } from '../../json.ts';
import type { InferenceChunk, InferenceResponse } from '../inference-driver.ts';
import { isBlank } from '../../messages/content-part.ts';
import type { ProviderReport } from '../model-call-info.ts';
import { MAX_CALLS } from '../read-response.ts';
import type { PartialAnswer } from '../inference-error.ts';
import type { Usage } from '../usage.ts';
import { AiSdkCalls, type PartialToolCall } from './ai-sdk-calls.ts';
import { AiSdkExtra, isCompaction } from './ai-sdk-extra.ts';
import type { GrowingPart, KeptPart } from './ai-sdk-parts.ts';
import { AiSdkReport } from './ai-sdk-report.ts';
import { aiSdkUsage } from './ai-sdk-usage.ts';
import { finishReasonOf } from '../finish-word.ts';
import { string } from './chat-message.ts';
import { ReasoningParts } from './reasoning-parts.ts';
import { ThinkFilter } from './think-filter.ts';

/** Assembles an answer from the parts of any specification, streamed or whole. */
export class AiSdkAnswer {
  readonly #origin: Readonly<Record<'model' | 'account', string | undefined>>;
  readonly #provider: string;
  #text = '';
  #word: string | null = null;
  #usage: Partial<Usage> | null = null;
  readonly #parts: GrowingPart[] = [];
  readonly #calls: AiSdkCalls;
  /** Parts by type and id: an answer may have any number of them. */
  readonly #partsById: Map<string, GrowingPart> = new Map();
  #hasWord = false;
  #rawWord: string | null = null;
  readonly #extra = new AiSdkExtra();
  readonly #report = new AiSdkReport();
  /** Finds reasoning inside the text, for servers that have no field for it. */
  readonly #think: ThinkFilter | null;
  #lastText: GrowingPart | null = null;
  readonly #reasoning = new ReasoningParts();

  constructor(provider: string, model?: string, account?: string, textTools?: ReadonlySet<string>) {
    this.#calls = new AiSdkCalls(textTools);
    this.#provider = provider;
    this.#origin = { model, account };
    this.#think = hasReasoning.test(provider) ? null : new ThinkFilter();
  }

  /**
   * Whether a stream that ends here is complete. Packages report every end as complete and complete truncated values,
   * so only the provider's finish reason counts.
   */
  get isFinished(): boolean {
    return this.#hasWord;
  }

  /** Whether a web page came in place of an answer, which packages read as an empty stream. */
  get isPage(): boolean {
    return this.#report.isPage;
  }

  /** What the package has reported so far, besides the answer. */
  get report(): ProviderReport {
    return this.#report.report;
  }

  /** Whether the answer has named its model. */
  get hasModel(): boolean {
    return this.#report.hasModel;
  }

  get partial(): PartialAnswer {
    const toolCalls = this.#calls.inferred(true);
    return {
      ...this.#report.report,
      ...(this.#text === '' ? null : { content: this.#text }),
      ...(toolCalls.length === 0 ? null : { toolCalls }),
      ...(this.#usage === null ? null : { usage: this.#usage }),
    };
  }

  /** Reads what a result says about the call: headers, model, warnings. */
  about(result: Record<string, unknown>): void {
    this.#report.result(result);
  }

  /** Reads a part of a whole answer. */
  take(part: unknown): void {
    if (!isRecord(part)) return;
    const { type } = part;
    if (type === 'text' || type === 'reasoning')
      this.#grow(type, '', string(part['text']), part, []);
    else if (type === 'tool-call') this.#complete(part, []);
    else this.#takeExtra(part);
  }

  #takeExtra(part: Record<string, unknown>): void {
    const at = this.#parts.length;
    if (part['type'] === 'tool-result') this.#extra.result(part, at, optionsOf(part));
    else if (part['type'] === 'file') this.#extra.file(part, at, optionsOf(part));
  }

  /** Reads a part of a stream; returns what it adds. */
  read(part: unknown): InferenceChunk[] {
    if (!isRecord(part)) return [];
    const delta = string(part['delta']);
    const id = string(part['id']);
    const out: InferenceChunk[] = [];
    switch (part['type']) {
      case 'text-delta':
      case 'text-start':
      case 'text-end':
        this.#grow('text', id, delta, part, out);
        break;
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        this.#grow('reasoning', id, delta, part, out);
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
      case 'tool-result':
      case 'file':
        this.#takeExtra(part);
        break;
      case 'stream-start':
        this.#report.result(part);
        break;
      case 'response-metadata':
        this.#report.metadata(part);
        break;
      case 'finish':
        this.finish(part, out);
        if (this.#usage) out.push({ type: 'usage', usage: this.#usage });
        break;
      default:
    }
    return out;
  }

  finish(
    { finishReason, usage, providerMetadata }: Record<string, unknown>,
    out: InferenceChunk[] = [],
  ): void {
    if (this.#think && this.#lastText) this.#say(this.#lastText, this.#think.end(), out);
    const { unified, raw } = isRecord(finishReason) ? finishReason : { unified: finishReason };
    const isVague = unified === 'unknown' || unified === 'other';
    this.#rawWord = string(raw) || string(unified) || null;
    // packages report a turn that the provider paused as complete
    const isPaused = finishReasonOf(this.#rawWord, false) === 'pause_turn';
    this.#word = isPaused || isVague ? this.#rawWord : string(unified) || null;
    this.#hasWord = this.#word !== null && (raw !== undefined || !isVague);
    this.#usage = aiSdkUsage(usage, providerMetadata);
  }

  response(): InferenceResponse {
    const toolCalls = this.#calls.inferred(finishReasonOf(this.#word, false) === 'length');
    const isEmpty = isBlank(this.#text) && this.#extra.isEmpty;
    const metadata = this.#kept();
    const { files } = this.#extra;
    return {
      ...this.#report.report,
      content: this.#text,
      toolCalls,
      reasoning: this.#reasoning.text || null,
      refusal: null,
      finishReason: finishReasonOf(this.#word, toolCalls.length > 0, isEmpty),
      ...(this.#rawWord === null ? null : { rawFinishReason: this.#rawWord }),
      ...(files.length > 0 ? { files } : null),
      usage: this.#usage,
      ...(metadata ? { metadata } : null),
    };
  }

  /** Reads text and reasoning; provider metadata may arrive with the start, a delta or the end. */
  #grow(
    type: 'text' | 'reasoning',
    id: string,
    delta: string,
    source: Record<string, unknown>,
    out: InferenceChunk[],
  ): void {
    const options = optionsOf(source);
    if (type === 'text' && (isCompaction(options) || this.#extra.isHidden(id)))
      return this.#extra.hide(id, delta, this.#parts.length, options);
    const key = `${type} ${id}`;
    const open = id === '' ? undefined : this.#partsById.get(key);
    const part = open ?? { type, id, text: '', options: null };
    if (!open) {
      this.#parts.push(part);
      this.#partsById.set(key, part);
    }
    if (options) part.options = { ...part.options, ...options };
    if (delta === '') return;
    if (type === 'reasoning') {
      part.text += delta;
      return void out.push({ type, text: this.#reasoning.add(part, delta) });
    }
    this.#lastText = part;
    const said = this.#think?.push(delta) ?? delta;
    const thought = this.#think?.takeThought() ?? '';
    if (thought !== '')
      out.push({ type: 'reasoning', text: this.#reasoning.add(this.#think, thought) });
    this.#say(part, said, out);
  }

  #say(part: GrowingPart, text: string, out: InferenceChunk[]): void {
    if (text === '') return;
    part.text += text;
    this.#text += text;
    out.push({ type: 'content', text });
  }

  #begin(id: string, name: string): PartialToolCall {
    const call = this.#calls.begin(id, name);
    this.#parts.push(call.part);
    return call;
  }

  #growCall(id: string, argsDelta: string, out: InferenceChunk[]): void {
    const call = this.#calls.newest(id);
    if (!call || call.isWhole || argsDelta === '') return;
    call.args += argsDelta;
    out.push({ type: 'tool_call', index: call.index, id: id || null, name: call.name, argsDelta });
  }

  /** Reads the whole call, which replaces its streamed parts. */
  #complete(part: Record<string, unknown>, out: InferenceChunk[]): void {
    if (part['providerExecuted'] === true)
      return this.#extra.call(part, this.#parts.length, optionsOf(part));
    const id = string(part['toolCallId']);
    const name = string(part['toolName']);
    const { input } = part;
    const streamed = this.#calls.nextOpen(id);
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

  /** Returns metadata if the provider expects state back: signed reasoning, its own calls, or options of parts. */
  #kept(): JsonObject | null {
    const isKept = ({ type, text, call = 0 }: GrowingPart): boolean =>
      (type !== 'text' || text !== '') && call <= MAX_CALLS;
    const parts = this.#parts.filter(isKept);
    const extra = this.#extra;
    if (extra.isEmpty && !parts.some(({ type, options }) => type === 'reasoning' || options))
      return null;
    const kept = parts.map(({ type, text, call, options }): KeptPart => ({
      type,
      ...(type === 'reasoning' ? { text } : null),
      ...(type === 'text' ? { length: text.length } : null),
      ...(call === undefined ? null : { call }),
      ...(options ? { options } : null),
    }));
    let at = 0;
    let before = 0;
    // in the order of arrival, so that each part is counted once
    const more = extra.parts.map((part) => {
      for (; at < part.at; at++) if (isKept(this.#parts[at] as GrowingPart)) before += 1; // a valid index
      return { ...part, at: before };
    });
    return {
      aiSdk: toJsonValue({
        provider: this.#provider,
        ...this.#origin,
        parts: kept,
        ...(more.length > 0 ? { extra: more } : null),
      }),
      ...(extra.calls.length > 0 ? { providerCalls: toJsonValue(extra.calls) } : null),
    };
  }
}

/** Packages of providers that separate reasoning from the text. */
const hasReasoning = /^(?:anthropic|amazon-bedrock|azure|google|openai|vertex)\b/;

function optionsOf({ providerMetadata }: Record<string, unknown>): JsonObject | null {
  // converted to plain data when stored
  return isRecord(providerMetadata) ? (providerMetadata as JsonObject) : null;
}
