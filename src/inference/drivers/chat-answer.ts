import type { AgentError } from '../../errors/agent-error.ts';
import type { ErrorReport } from '../../errors/error-record.ts';
import { excerpt } from '../../errors/excerpt.ts';
import { isRecord, jsonText, parseJson } from '../../json.ts';
import type { InferenceChunk, InferenceResponse } from '../inference-driver.ts';
import { brokenOff, modelCallFailed } from '../inference-error.ts';
import type { ProviderReport } from '../model-call-info.ts';
import type { AnswerFormat, AnswerStream } from './answer-format.ts';
import { readCompletion } from './chat-completion.ts';
import { ChatStream } from './chat-stream.ts';
import { readErrorBody } from './error-body.ts';
import { isErrorBody, providerError } from './provider-error.ts';
import { requestIdIn } from './request-id.ts';
import type { HeaderMap } from './retry-after.ts';
import { SseReader, type SseEvent } from './sse.ts';

/** Source of an answer. */
export interface AnswerOrigin {
  readonly status: number;
  readonly headers: HeaderMap;
  /** The server's URL, for state that must go back to it. */
  readonly server: string;
  readonly now: number;
}

/** Answers of Chat Completions, for one model family. */
export const chatFormat = (model?: string): AnswerFormat => ({
  stream: (server) => new ChatStream(server, model),
  whole: (body, server) => readCompletion(body, server, model),
  errorIn: (chunk) => (isErrorBody(chunk) ? chunk : null),
  missing: 'it has no choice',
});

/** Reads the bytes of one answer, streamed or whole. After each chunk check `failure`, then `isDone`. */
export class ChatAnswer {
  readonly #origin: AnswerOrigin;
  readonly #sse = new SseReader();
  readonly #format: AnswerFormat;
  readonly #stream: AnswerStream;
  #isDone = false;
  #failure: AgentError | null = null;
  #strayRead = 0;

  constructor(origin: AnswerOrigin, format: AnswerFormat = chatFormat()) {
    this.#origin = origin;
    this.#format = format;
    this.#stream = format.stream(origin.server);
  }

  /** Whether the first event of a stream has arrived; keep-alive comments do not count. */
  get hasBegun(): boolean {
    return this.#sse.hasEvents;
  }
  /** Whether everything that matters has arrived. */
  get isDone(): boolean {
    return this.#isDone || this.#stream.isOver;
  }
  get failure(): AgentError | null {
    return this.#failure;
  }
  /** The partial answer, for a failed connection. */
  get partial(): AnswerStream['partial'] {
    return this.#fromOrigin(this.#stream.partial);
  }

  /** What the provider has reported so far, besides the answer. */
  get report(): ProviderReport {
    return this.#fromOrigin(this.#stream.report);
  }

  /** Whether the answer has named its model. */
  get hasModel(): boolean {
    return this.#stream.report.model !== undefined;
  }

  feed(bytes: Uint8Array): InferenceChunk[] {
    return this.#takeAll(this.#sse.feed(bytes));
  }

  /** Call once, after the last byte or `isDone`. Emits the whole response unless there is a failure. */
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
      if (this.isDone) break;
      for (const chunk of this.#take(event)) chunks.push(chunk);
    }
    const { stray } = this.#sse;
    // only new lines can complete it
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
    else if (/^[[{]/.test(text)) this.#fail(this.#unreadable('a part of the stream is not JSON'));
    return [];
  }

  /** Reads events that the server did not separate by a blank line; an error may interrupt the previous one. */
  #takeLines(event: string, lines: readonly string[]): InferenceChunk[] {
    for (const line of lines) {
      const parsed = parseJson(line);
      if (parsed.ok && isErrorBody(parsed.value)) return this.#takeJson(parsed.value, true);
    }
    return lines.flatMap((data) => (this.#isDone ? [] : this.#take({ event, data })));
  }

  #takeJson(json: unknown, isError: boolean): InferenceChunk[] {
    const error = isError ? json : this.#format.errorIn(json);
    if (error !== null) {
      if (isRecord(json)) this.#stream.read(json);
      this.#fail(this.#refusal(jsonText(error) ?? ''));
      return [];
    }
    return isRecord(json) ? this.#stream.read(json) : [];
  }

  /** Reads an error without `data:`, or under its own field name. */
  #takeStray(text: string): void {
    const named = /^error:\s*/i.exec(text)?.[0];
    const parsed = parseJson(text.slice(named?.length ?? 0));
    if (!parsed.ok) return;
    const body = named ? { error: parsed.value } : parsed.value;
    if (isErrorBody(body)) this.#fail(this.#refusal(jsonText(body) ?? ''));
  }

  /** Reads a stream that was answered with one JSON body, or with JSON lines. */
  #readPlain(text: string): InferenceChunk[] {
    const read = readBody(text, this.#origin, this.#format);
    if (!('code' in read)) return chunksOf(this.#fromOrigin(read));
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
    return [
      ...this.#stream.end(),
      { type: 'done', response: this.#fromOrigin(this.#stream.response()) },
    ];
  }

  /** Adds the id of the request, which replaces that of the answer. */
  #fromOrigin<T extends ProviderReport>(answer: T): T {
    const requestId = requestIdIn(this.#origin.headers);
    return requestId === undefined ? answer : { ...answer, requestId };
  }

  #problem(): AgentError | null {
    if (this.#isDone && !this.#stream.hasChoice) return this.#unreadable(this.#format.missing);
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
    return modelCallFailed(unreadable(what, this.#origin), this.partial);
  }
}

/** Returns a whole answer as the chunks of a stream. */
function chunksOf(response: InferenceResponse): InferenceChunk[] {
  const { reasoning, content, toolCalls, usage, cost } = response;
  return [
    ...(reasoning ? [{ type: 'reasoning', text: reasoning } as const] : []),
    ...(content === '' ? [] : [{ type: 'content', text: content } as const]),
    ...toolCalls.map(
      ({ id = null, name, argsRaw = '' }, index) =>
        ({ type: 'tool_call', index, id, name, argsDelta: argsRaw }) as const,
    ),
    ...(usage ? [{ type: 'usage', usage, ...(cost == null ? null : { cost }) } as const] : []),
    { type: 'done', response },
  ];
}

/** Reads a whole body: an answer, an error with HTTP 200, or something unreadable. */
function readBody(
  text: string,
  origin: AnswerOrigin,
  { whole, missing }: AnswerFormat,
): InferenceResponse | AgentError {
  const { status, headers, server, now } = origin;
  const parsed = parseJson(text);
  if (!parsed.ok)
    return modelCallFailed(
      unreadable(`it is not JSON and starts with: ${excerpt(text, 120)}`, origin),
    );
  const body = parsed.value;
  const answer = isErrorBody(body) ? null : whole(body, server);
  if (answer) return answer;
  const isReported = isRecord(body) && readErrorBody(body, '').message !== null;
  return modelCallFailed(
    isErrorBody(body) || isReported
      ? providerError(status, headers, text, now)
      : unreadable(missing, origin),
  );
}

function unreadable(what: string, { status, headers }: AnswerOrigin): ErrorReport {
  const requestId = requestIdIn(headers);
  return {
    type: 'validation',
    code: 'unreadable_body',
    message: `The provider's answer cannot be read: ${what}.`,
    status,
    ...(requestId !== undefined && { requestId }),
  };
}
