import type { AgentError } from '../../errors/agent-error.ts';
import { isRecord, parseJson } from '../../json.ts';
import type { InferenceChunk, InferenceResponse } from '../inference-driver.ts';
import { brokenOff, modelCallFailed } from '../inference-error.ts';
import { readCompletion } from './chat-completion.ts';
import { ChatStream } from './chat-stream.ts';
import { readErrorBody } from './error-body.ts';
import { isErrorBody, providerError } from './provider-error.ts';
import type { HeaderMap } from './retry-after.ts';
import { SseReader, type SseEvent } from './sse.ts';

/** Where an answer comes from. */
export interface AnswerOrigin {
  readonly status: number;
  readonly headers: HeaderMap;
  /** The address of the server, for what has to go back to it. */
  readonly server: string;
  readonly now: number;
}

/** Reads the bytes of one answer, streamed or whole. After each piece look at `failure`, then at `isDone`. */
export class ChatAnswer {
  readonly #origin: AnswerOrigin;
  readonly #sse = new SseReader();
  readonly #stream: ChatStream;
  #isDone = false;
  #failure: AgentError | null = null;
  #strayRead = 0;

  constructor(origin: AnswerOrigin) {
    this.#origin = origin;
    this.#stream = new ChatStream(origin.server);
  }

  /** Whether the first event of a stream has come; comments that keep the line open are none. */
  get hasBegun(): boolean {
    return this.#sse.hasEvents;
  }
  /** Nothing that may follow matters any more. */
  get isDone(): boolean {
    return this.#isDone;
  }
  get failure(): AgentError | null {
    return this.#failure;
  }
  /** What had arrived so far, for a failure of the connection. */
  get partial(): ChatStream['partial'] {
    return this.#stream.partial;
  }

  feed(bytes: Uint8Array): InferenceChunk[] {
    return this.#takeAll(this.#sse.feed(bytes));
  }

  /** Call once, after the last byte or `isDone`; ends with the whole response unless there is a failure. */
  end(): InferenceChunk[] {
    const chunks = this.#isDone ? [] : this.#takeAll(this.#sse.end());
    if (this.#failure) return chunks;
    const plain = this.#sse.plainText;
    if (plain !== '') return this.#readPlain(plain);
    chunks.push(...this.#finish());
    return chunks;
  }

  #takeAll(events: readonly SseEvent[]): InferenceChunk[] {
    const [only] = events;
    if (events.length === 1 && only && this.#sse.stray.length === this.#strayRead)
      return this.#take(only);
    const chunks: InferenceChunk[] = [];
    for (const event of events) {
      if (this.#isDone) break;
      chunks.push(...this.#take(event));
    }
    const { stray } = this.#sse;
    // only what is new can have made it whole
    if (!this.#isDone && stray.length > this.#strayRead) this.#takeStray(stray.trim());
    this.#strayRead = stray.length;
    return chunks;
  }

  #take({ event, data }: SseEvent): InferenceChunk[] {
    const parsed = parseJson(data);
    if (parsed.ok) return this.#takeJson(parsed.value, event === 'error');
    const text = data.replace(/^(?:data:\s*)+/, '').trim();
    if (text === '[DONE]') {
      this.#isDone = true;
      return [];
    }
    if (text !== data.trim()) return this.#take({ event, data: text });
    if (text.includes('\n')) return this.#takeLines(event, text.split('\n'));
    if (event === 'error' || /^\W*error\b/i.test(text)) this.#fail(this.#refusal(text));
    else if (/^[[{]/.test(text)) this.#fail(this.#unreadable('a piece of the stream is no JSON'));
    return [];
  }

  /** Events that the server did not part by a blank line; an error may have cut off the one before it. */
  #takeLines(event: string, lines: readonly string[]): InferenceChunk[] {
    for (const line of lines) {
      const parsed = parseJson(line);
      if (parsed.ok && isErrorBody(parsed.value)) return this.#takeJson(parsed.value, true);
    }
    return lines.flatMap((data) => (this.#isDone ? [] : this.#take({ event, data })));
  }

  #takeJson(json: unknown, isError: boolean): InferenceChunk[] {
    if (isError || isErrorBody(json)) {
      if (isRecord(json)) this.#stream.read(json);
      this.#fail(this.#refusal(JSON.stringify(json)));
      return [];
    }
    return isRecord(json) ? this.#stream.read(json) : [];
  }

  /** An error that came without `data:`, or under a field name of its own. */
  #takeStray(text: string): void {
    const named = /^error:\s*/i.exec(text)?.[0];
    const parsed = parseJson(text.slice(named?.length ?? 0));
    if (!parsed.ok) return;
    const body = named ? { error: parsed.value } : parsed.value;
    if (isErrorBody(body)) this.#fail(this.#refusal(JSON.stringify(body)));
  }

  /** A stream that was answered with one JSON body, or with JSON lines. */
  #readPlain(text: string): InferenceChunk[] {
    const read = readChatBody(text, this.#origin);
    if (!('code' in read)) {
      const done: InferenceChunk = { type: 'done', response: read };
      return read.content === '' ? [done] : [{ type: 'content', text: read.content }, done];
    }
    const lines = text.split('\n').map((line) => parseJson(line));
    if (lines.length === 1 || !lines.every(({ ok }) => ok)) {
      this.#fail(read);
      return [];
    }
    const chunks = lines.flatMap((line) => (line.ok ? this.#takeJson(line.value, false) : []));
    return [...chunks, ...this.#finish()];
  }

  #finish(): InferenceChunk[] {
    this.#failure ??= this.#problem();
    if (this.#failure) return [];
    return [...this.#stream.end(), { type: 'done', response: this.#stream.response() }];
  }

  #problem(): AgentError | null {
    if (this.#isDone && !this.#stream.hasChoice)
      return this.#unreadable('there is no choice in it');
    return this.#isDone || this.#stream.isFinished ? null : brokenOff(this.partial);
  }

  #fail(failure: AgentError): void {
    this.#failure ??= failure;
    this.#isDone = true;
  }

  #refusal(body: string): AgentError {
    const { status, headers, now } = this.#origin;
    return modelCallFailed(providerError(status, headers, body, now), this.partial);
  }

  #unreadable(what: string): AgentError {
    return modelCallFailed(unreadable(what, this.#origin.status), this.partial);
  }
}

/** A whole body: an answer, an error that came with HTTP 200, or nothing that can be read. */
function readChatBody(text: string, origin: AnswerOrigin): InferenceResponse | AgentError {
  const { status, headers, server, now } = origin;
  const parsed = parseJson(text);
  if (!parsed.ok)
    return modelCallFailed(unreadable(`it is no JSON and begins: ${text.slice(0, 120)}`, status));
  const body = parsed.value;
  const answer = isErrorBody(body) ? null : readCompletion(body, server);
  if (answer) return answer;
  const isTold = isRecord(body) && readErrorBody(body, '').message !== null;
  return modelCallFailed(
    isErrorBody(body) || isTold
      ? providerError(status, headers, text, now)
      : unreadable('there is no choice in it', status),
  );
}

const unreadable = (what: string, status: number) =>
  ({
    type: 'validation',
    code: 'unreadable_body',
    message: `The provider's answer cannot be read: ${what}.`,
    status,
  }) as const;
