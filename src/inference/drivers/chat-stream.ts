import { isRecord } from '../../json.ts';
import type { InferenceChunk, InferenceResponse } from '../inference-driver.ts';
import type { PartialAnswer } from '../inference-error.ts';
import { finishReasonOf, spokenIn, string } from './chat-message.ts';
import { usageIn, type ChatUsage } from './chat-usage.ts';
import { ToolCallAssembler } from './tool-call-assembler.ts';
import { ReasoningCollector } from './provider-state.ts';
import { ThinkFilter } from './think-filter.ts';

/** Puts a streamed answer together, chunk by chunk, and tells what is new in each. */
export class ChatStream {
  readonly #server: string;
  #content = '';
  #reasoning = '';
  #refusal = '';
  #word: string | null = null;
  #report: ChatUsage | null = null;
  #reports = 0;
  #endsWithReport = false;
  #hasChoice = false;
  readonly #calls = new ToolCallAssembler();
  readonly #think = new ThinkFilter();
  readonly #kept = new ReasoningCollector();

  constructor(server: string) {
    this.#server = server;
  }

  /** What a chunk adds; only the first choice is read. */
  read(chunk: Record<string, unknown>): InferenceChunk[] {
    const out: InferenceChunk[] = [];
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

  /** What was held back as possible reasoning and turned out to be said. */
  end(): InferenceChunk[] {
    const out: InferenceChunk[] = [];
    this.#say(this.#think.end(), out);
    return out;
  }

  /** Whether there was anything to read at all. */
  get hasChoice(): boolean {
    return this.#hasChoice;
  }

  /**
   * Whether a stream that ends here without `[DONE]` is whole: the provider gave its word, or counted up at the very
   * end, or every call is there to its last brace.
   */
  get isFinished(): boolean {
    return (
      this.#word !== null || (this.#endsWithReport && this.#reports === 1) || this.#calls.areWhole
    );
  }

  get partial(): PartialAnswer {
    const toolCalls = this.#calls.list(true);
    return {
      ...(this.#content === '' ? null : { content: this.#content }),
      ...(toolCalls.length === 0 ? null : { toolCalls }),
      ...this.#report,
    };
  }

  response(): InferenceResponse {
    const cutOff = finishReasonOf(this.#word, false) === 'length';
    const toolCalls = this.#calls.list(cutOff);
    const hasCalls = toolCalls.length > 0;
    const metadata = this.#kept.metadata(this.#server, this.#calls.extras(), hasCalls);
    return {
      content: this.#content,
      toolCalls,
      reasoning: this.#reasoning || this.#think.think,
      refusal: this.#refusal || null,
      finishReason: finishReasonOf(this.#word, hasCalls),
      usage: this.#report?.usage ?? null,
      ...(this.#report?.cost == null ? null : { cost: this.#report.cost }),
      ...(metadata ? { metadata } : null),
    };
  }

  #readChoice(choice: Record<string, unknown>, out: InferenceChunk[]): void {
    this.#hasChoice = true;
    const { finish_reason: word, delta, message } = choice;
    // a word that says what went wrong is not taken back by a later, ordinary one
    if (string(word) !== '' && !isTelling(this.#word)) this.#word = string(word);
    if (isRecord(delta)) this.#readDelta(delta, out);
    // some repeat the whole message beside every delta, some send it in place of the only one
    else if (isRecord(message) && this.#isEmpty) this.#readDelta(message, out);
  }

  #readDelta(delta: Record<string, unknown>, out: InferenceChunk[]): void {
    const { text, reasoning, refusal } = spokenIn(delta);
    if (reasoning !== '') {
      this.#reasoning += reasoning;
      this.#kept.read(delta);
      out.push({ type: 'reasoning', text: reasoning });
    } else if (delta['reasoning_details'] !== undefined) this.#kept.read(delta);
    if (refusal !== '') this.#refusal += refusal;
    if (text !== '') {
      const said = this.#think.push(text);
      const thought = this.#think.takeThought();
      // where the provider reports reasoning apart, that counts
      if (thought !== '' && this.#reasoning === '') out.push({ type: 'reasoning', text: thought });
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
    return this.#content === '' && this.#reasoning === '' && this.#calls.length === 0;
  }
}

const isTelling = (word: string | null): boolean => {
  const reason = finishReasonOf(word, false);
  return reason !== 'stop' && reason !== 'tool_calls';
};
