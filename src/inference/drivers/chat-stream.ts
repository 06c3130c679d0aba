import { isRecord } from '../../json.ts';
import { isBlank } from '../../messages/content-part.ts';
import type { InferenceChunk, InferenceResponse } from '../inference-driver.ts';
import type { PartialAnswer } from '../inference-error.ts';
import type { ProviderReport } from '../model-call-info.ts';
import { finishReasonOf } from '../finish-word.ts';
import type { AnswerStream } from './answer-format.ts';
import { imageParts, imagesIn, spokenIn, string } from './chat-message.ts';
import { usageIn, type ChatUsage } from './chat-usage.ts';
import { ToolCallAssembler } from './tool-call-assembler.ts';
import { hasState, ReasoningCollector } from './provider-state.ts';
import { reportIn } from './request-id.ts';
import { ReasoningParts } from './reasoning-parts.ts';
import { ThinkFilter } from './think-filter.ts';

/** Assembles a streamed answer chunk by chunk, and returns what is new in each. */
export class ChatStream implements AnswerStream {
  readonly #server: string;
  readonly #model: string | undefined;
  #content = '';
  readonly #reasoning = new ReasoningParts();
  #refusal = '';
  #word: string | null = null;
  #report: ChatUsage | null = null;
  /** Model and id of the answer, which every chunk repeats. */
  #source: ProviderReport = {};
  #reports = 0;
  #endsWithReport = false;
  #hasChoice = false;
  /** Addresses of images; some servers repeat them. */
  readonly #images = new Set<string>();
  readonly #calls = new ToolCallAssembler();
  readonly #think = new ThinkFilter();
  readonly #kept = new ReasoningCollector();

  constructor(server: string, model?: string) {
    this.#server = server;
    this.#model = model;
  }

  /** Reads a chunk; only the first choice is used. */
  read(chunk: Record<string, unknown>): InferenceChunk[] {
    const out: InferenceChunk[] = [];
    if (this.#source.model === undefined) this.#source = { ...this.#source, ...reportIn(chunk) };
    const report = usageIn(chunk);
    this.#endsWithReport = report !== null;
    if (report) {
      this.#report = report;
      this.#reports += 1;
      out.push({ type: 'usage', ...report });
    }
    if (Array.isArray(chunk['choices']))
      for (const choice of chunk['choices'] as unknown[])
        if (isRecord(choice) && (choice['index'] ?? 0) === 0) this.#readChoice(choice, out);
    return out;
  }

  /** Emits text that was held back as possible reasoning and is not. */
  end(): InferenceChunk[] {
    const out: InferenceChunk[] = [];
    this.#say(this.#think.end(), out);
    return out;
  }

  /** Usage may follow the finish reason. */
  readonly isOver = false;

  /** Whether there was anything to read at all. */
  get hasChoice(): boolean {
    return this.#hasChoice;
  }

  /**
   * Whether a stream that ends here without `[DONE]` is complete: it has a finish reason, or usage at the very end,
   * or every call is complete.
   */
  get isFinished(): boolean {
    return (
      this.#word !== null || (this.#endsWithReport && this.#reports === 1) || this.#calls.areWhole
    );
  }

  get report(): ProviderReport {
    return this.#source;
  }

  get partial(): PartialAnswer {
    const toolCalls = this.#calls.list(true);
    return {
      ...this.#source,
      ...(this.#content === '' ? null : { content: this.#content }),
      ...(toolCalls.length === 0 ? null : { toolCalls }),
      ...this.#report,
    };
  }

  response(): InferenceResponse {
    const cutOff = finishReasonOf(this.#word, false) === 'length';
    const toolCalls = this.#calls.list(cutOff);
    const hasCalls = toolCalls.length > 0;
    const metadata = this.#kept.metadata(this.#server, this.#calls, hasCalls, this.#model);
    return {
      ...this.#source,
      content: this.#content,
      toolCalls,
      reasoning: this.#reasoning.text || this.#think.think,
      refusal: this.#refusal || null,
      finishReason: finishReasonOf(
        this.#word,
        hasCalls,
        isBlank(this.#content) && this.#images.size === 0 && this.#refusal === '',
      ),
      ...(this.#word === null ? null : { rawFinishReason: this.#word }),
      ...(this.#images.size > 0 ? { files: imageParts(this.#images) } : null),
      usage: this.#report?.usage ?? null,
      ...(this.#report?.cost == null ? null : { cost: this.#report.cost }),
      ...(metadata ? { metadata } : null),
    };
  }

  #readChoice(choice: Record<string, unknown>, out: InferenceChunk[]): void {
    this.#hasChoice = true;
    const { finish_reason: word, delta, message } = choice;
    // a finish reason that reports a problem is not replaced by a later, ordinary one
    if (string(word) !== '' && !isTelling(this.#word)) this.#word = string(word);
    if (isRecord(delta)) this.#readDelta(delta, out);
    // some servers repeat the whole message next to every delta, some send it instead of the only
    // one
    else if (isRecord(message) && this.#isEmpty) this.#readDelta(message, out);
  }

  #readDelta(delta: Record<string, unknown>, out: InferenceChunk[]): void {
    const { text, reasoning, refusal } = spokenIn(delta, this.#reasoning);
    if (reasoning !== '' || hasState(delta)) this.#kept.read(delta);
    if (reasoning !== '') out.push({ type: 'reasoning', text: reasoning });
    if (refusal !== '') this.#refusal += refusal;
    for (const url of imagesIn(delta)) this.#images.add(url);
    if (text !== '') {
      const said = this.#think.push(text);
      const thought = this.#think.takeThought();
      // reasoning that the provider reports separately wins
      if (thought !== '' && this.#reasoning.text === '')
        out.push({ type: 'reasoning', text: thought });
      this.#say(said, out);
    }
    const calls = delta['tool_calls'];
    if (Array.isArray(calls)) this.#calls.read(calls as unknown[], out);
    else if (isRecord(delta['function_call']))
      this.#calls.read([{ index: 0, function: delta['function_call'] }], out);
  }

  #say(text: string, out: InferenceChunk[]): void {
    if (text === '') return;
    this.#content += text;
    out.push({ type: 'content', text });
  }

  get #isEmpty(): boolean {
    return this.#content === '' && this.#reasoning.text === '' && this.#calls.length === 0;
  }
}

const isTelling = (word: string | null): boolean => {
  const reason = finishReasonOf(word, false);
  return reason !== 'stop' && reason !== 'tool_calls';
};
