import { isRecord } from '../../json.ts';
import type { InferenceChunk, InferenceResponse } from '../inference-driver.ts';
import type { Usage } from '../usage.ts';
import { argumentText } from './chat-completion.ts';
import { finishReasonOf, readCall, splitThink, spokenIn, string, usageIn } from './chat-message.ts';

interface GrowingCall {
  id: string;
  name: string;
  args: string;
}

/** Puts a streamed answer together, chunk by chunk, and tells what is new in each. */
export class ChatStream {
  #text = '';
  #reasoning = '';
  #refusal = '';
  #word: string | null = null;
  #usage: Partial<Usage> | null = null;
  readonly #calls: GrowingCall[] = [];
  /** By the provider's index, where it gives one. */
  readonly #byIndex: Map<number, GrowingCall> = new Map();
  #think = new ThinkFilter();
  #sawChoice = false;

  /** What a chunk adds; only the first choice is read. */
  read(chunk: Record<string, unknown>): InferenceChunk[] {
    const out: InferenceChunk[] = [];
    const usage = usageIn(chunk);
    if (usage) {
      this.#usage = usage;
      out.push({ type: 'usage', usage });
    }
    const choices = Array.isArray(chunk['choices']) ? chunk['choices'] : [];
    for (const choice of choices as unknown[]) {
      if (!isRecord(choice) || (choice['index'] ?? 0) !== 0) continue;
      this.#sawChoice = true;
      this.#word = string(choice['finish_reason']) || this.#word;
      this.#readDelta(choice['delta'] ?? choice['message'], out);
    }
    return out;
  }

  #readDelta(delta: unknown, out: InferenceChunk[]): void {
    if (!isRecord(delta)) return;
    const { text, reasoning, refusal } = spokenIn(delta);
    this.#refusal += refusal;
    this.#reasoning += reasoning;
    if (reasoning !== '') out.push({ type: 'reasoning', text: reasoning });
    if (text !== '') {
      this.#text += text;
      const said = this.#think.push(text);
      if (said !== '') out.push({ type: 'content', text: said });
    }
    if (Array.isArray(delta['tool_calls']))
      for (const [place, call] of (delta['tool_calls'] as unknown[]).entries())
        if (isRecord(call)) this.#readCall(call, place, out);
  }

  #readCall(delta: Record<string, unknown>, place: number, out: InferenceChunk[]): void {
    const fn = isRecord(delta['function']) ? delta['function'] : {};
    const id = string(delta['id']);
    const name = string(fn['name']);
    const call = this.#callFor(delta['index'], id, name, place);
    call.id ||= id;
    call.name ||= name;
    const argsDelta = argumentText(fn['arguments']);
    call.args += argsDelta;
    out.push({
      type: 'tool_call',
      index: this.#calls.indexOf(call),
      id: call.id || null,
      name: call.name,
      argsDelta,
    });
  }

  /** By index; by id where the index is missing or stays 0 for every call; else the call at that place. */
  #callFor(index: unknown, id: string, name: string, place: number): GrowingCall {
    const sameId = id === '' ? undefined : this.#calls.find((call) => call.id === id);
    if (typeof index === 'number') {
      const known = this.#byIndex.get(index);
      const isOther = known !== undefined && known.id !== '' && id !== '' && known.id !== id;
      if (known && !isOther) return known;
      const call = sameId ?? this.#begin();
      this.#byIndex.set(index, call);
      return call;
    }
    if (sameId) return sameId;
    if (id !== '' || name !== '') return this.#begin();
    return this.#calls[place] ?? this.#calls.at(-1) ?? this.#begin();
  }

  #begin(): GrowingCall {
    const call: GrowingCall = { id: '', name: '', args: '' };
    this.#calls.push(call);
    return call;
  }

  get usage(): Partial<Usage> | null {
    return this.#usage;
  }

  /** Whether the provider said that the turn is over. */
  get isFinished(): boolean {
    return this.#word !== null;
  }

  get sawChoice(): boolean {
    return this.#sawChoice;
  }

  /** Text that was held back as possible reasoning and turned out to be said. */
  rest(): string {
    return this.#think.end();
  }

  response(): InferenceResponse {
    const cutOff = finishReasonOf(this.#word, false) === 'length';
    const toolCalls = this.#calls
      .filter((call) => call.name !== '')
      .map(({ id, name, args }) => readCall(id, name, args, cutOff));
    const { think, said } = splitThink(this.#text);
    return {
      content: said,
      toolCalls,
      reasoning: this.#reasoning || think || null,
      refusal: this.#refusal || null,
      finishReason: finishReasonOf(this.#word, toolCalls.length > 0),
      usage: this.#usage,
    };
  }
}

/** Keeps `<think>…</think>` at the beginning of the text off the screen. */
class ThinkFilter {
  #held = '';
  #isOpen = false;

  push(text: string): string {
    if (this.#isOpen) return text;
    this.#held += text;
    const start = this.#held.trimStart();
    if (start === '' || '<think>'.startsWith(start.slice(0, 7))) {
      const closed = /<\/think>\s*(?=\S)/.exec(this.#held);
      if (!closed || !start.startsWith('<think>')) return '';
      this.#isOpen = true;
      return this.#held.slice(closed.index + closed[0].length);
    }
    return this.end();
  }

  end(): string {
    const { think, said } = splitThink(this.#held);
    const isUnclosed = think === '' && this.#held.trimStart().startsWith('<think>');
    this.#isOpen = true;
    this.#held = '';
    return isUnclosed ? '' : said;
  }
}
