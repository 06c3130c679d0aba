import { isRecord, toJsonValue, type JsonObject } from '../../json.ts';
import type { InferenceChunk, InferenceResponse } from '../inference-driver.ts';
import type { PartialAnswer } from '../inference-error.ts';
import type { Usage } from '../usage.ts';
import type { KeptForProvider } from './ai-sdk-request.ts';
import { finishReasonOf, readCall, string } from './chat-message.ts';

interface GrowingCall {
  readonly id: string;
  name: string;
  args: string;
}

/** Puts an answer together from the parts of any specification, streamed or whole. */
export class AiSdkAnswer {
  readonly #provider: string;
  #text = '';
  #word: string | null = null;
  #usage: Partial<Usage> | null = null;
  readonly #reasoning: { text: string; providerOptions?: JsonObject }[] = [];
  readonly #calls: GrowingCall[] = [];
  readonly #callOptions: Record<string, JsonObject> = {};
  #finished = false;

  constructor(provider: string) {
    this.#provider = provider;
  }

  get isFinished(): boolean {
    return this.#finished;
  }
  get partial(): PartialAnswer {
    return this.#usage ? { usage: this.#usage } : {};
  }

  /** A part of a whole answer. */
  take(part: unknown): void {
    if (!isRecord(part)) return;
    if (part['type'] === 'text') this.#text += string(part['text']);
    else if (part['type'] === 'reasoning') this.#think(string(part['text']), part);
    else if (part['type'] === 'tool-call') this.#complete(part);
  }

  /** A part of a stream, and what it adds. */
  *read(part: unknown): Generator<InferenceChunk> {
    if (!isRecord(part)) return;
    const delta = string(part['delta']);
    switch (part['type']) {
      case 'text-delta':
        this.#text += delta;
        if (delta !== '') yield { type: 'content', text: delta };
        return;
      case 'reasoning-start':
        this.#think('', part);
        return;
      case 'reasoning-delta':
      case 'reasoning-end':
        this.#continueThinking(delta, part);
        if (delta !== '') yield { type: 'reasoning', text: delta };
        return;
      case 'tool-input-start':
        if (part['providerExecuted'] !== true)
          this.#calls.push({ id: string(part['id']), name: string(part['toolName']), args: '' });
        return;
      case 'tool-input-delta':
        yield* this.#grow(string(part['id']), delta);
        return;
      case 'tool-call':
        yield* this.#completed(part);
        return;
      case 'finish':
        this.finish(part);
        if (this.#usage) yield { type: 'usage', usage: this.#usage };
        return;
      default:
    }
  }

  finish({ finishReason, usage }: Record<string, unknown>): void {
    this.#finished = true;
    const word = isRecord(finishReason) ? finishReason['unified'] : finishReason;
    this.#word = string(word).replace('-', '_') || null;
    this.#usage = usageOfAnyVersion(usage);
  }

  response(): InferenceResponse {
    const cutOff = this.#word === 'length';
    const toolCalls = this.#calls.map(({ id, name, args }) => readCall(id, name, args, cutOff));
    const reasoning = this.#reasoning.map(({ text }) => text).join('');
    const kept: KeptForProvider = {
      provider: this.#provider,
      reasoning: this.#reasoning,
      calls: this.#callOptions,
    };
    const isKept = this.#reasoning.length > 0 || Object.keys(this.#callOptions).length > 0;
    return {
      content: this.#text,
      toolCalls,
      reasoning: reasoning || null,
      refusal: null,
      finishReason: finishReasonOf(this.#word, toolCalls.length > 0),
      usage: this.#usage,
      ...(isKept ? { metadata: { aiSdk: toJsonValue(kept) } } : null),
    };
  }

  #think(text: string, part: Record<string, unknown>): void {
    const providerOptions = metadataOf(part);
    this.#reasoning.push({ text, ...(providerOptions ? { providerOptions } : null) });
  }

  /** Signatures come with the delta or with the end. */
  #continueThinking(delta: string, part: Record<string, unknown>): void {
    const current = this.#reasoning.at(-1);
    if (!current) return this.#think(delta, part);
    current.text += delta;
    const providerOptions = metadataOf(part);
    if (providerOptions)
      current.providerOptions = { ...current.providerOptions, ...providerOptions };
  }

  *#grow(id: string, argsDelta: string): Generator<InferenceChunk> {
    const index = this.#calls.findIndex((call) => call.id === id);
    const call = this.#calls[index];
    if (!call) return;
    call.args += argsDelta;
    if (argsDelta !== '') yield { type: 'tool_call', index, id, name: call.name, argsDelta };
  }

  /** The whole call counts over what was streamed of it. */
  #complete(part: Record<string, unknown>): GrowingCall | null {
    if (part['providerExecuted'] === true) return null;
    const id = string(part['toolCallId']);
    const name = string(part['toolName']);
    const { input } = part;
    const args = typeof input === 'string' ? input : JSON.stringify(input ?? {});
    const providerOptions = metadataOf(part);
    if (providerOptions) this.#callOptions[id] = providerOptions;
    const known = this.#calls.find((call) => call.id === id && id !== '');
    if (known) return Object.assign(known, { name, args });
    const call = { id, name, args };
    this.#calls.push(call);
    return call;
  }

  *#completed(part: Record<string, unknown>): Generator<InferenceChunk> {
    const before = this.#calls.length;
    const call = this.#complete(part);
    if (call && this.#calls.length > before)
      yield {
        type: 'tool_call',
        index: before,
        id: call.id || null,
        name: call.name,
        argsDelta: call.args,
      };
  }
}

function metadataOf({ providerMetadata }: Record<string, unknown>): JsonObject | undefined {
  return isRecord(providerMetadata) ? (toJsonValue(providerMetadata) as JsonObject) : undefined;
}

/** v2 counts flat, v3 and v4 in groups; the provider's own total counts where it is told. */
function usageOfAnyVersion(usage: unknown): Partial<Usage> | null {
  if (!isRecord(usage)) return null;
  const { inputTokens, outputTokens, raw } = usage;
  const input = count(isRecord(inputTokens) ? inputTokens['total'] : inputTokens);
  const output = count(isRecord(outputTokens) ? outputTokens['total'] : outputTokens);
  if (input === undefined && output === undefined) return null;
  const wire = isRecord(raw) ? raw : {};
  const total =
    count(usage['totalTokens']) ?? count(wire['total_tokens'] ?? wire['totalTokenCount']);
  const cachedInput = count(
    isRecord(inputTokens) ? inputTokens['cacheRead'] : usage['cachedInputTokens'],
  );
  const reasoning = count(
    isRecord(outputTokens) ? outputTokens['reasoning'] : usage['reasoningTokens'],
  );
  return {
    input: input ?? 0,
    output: output ?? 0,
    ...(total === undefined ? null : { total }),
    ...(cachedInput === undefined ? null : { cachedInput }),
    ...(reasoning === undefined ? null : { reasoning }),
  };
}

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
