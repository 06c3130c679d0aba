import { AgentError, invalidOption } from '../errors/agent-error.ts';
import { defaultRedactor, type Redactor } from '../errors/redactor.ts';
import type {
  InferenceChunk,
  InferenceDriver,
  InferenceOptions,
  InferenceRequest,
  InferenceResponse,
} from '../inference/inference-driver.ts';
import { readFailure } from '../inference/inference-error.ts';
import {
  CASSETTE_FORMAT,
  CASSETTE_VERSION,
  checkedIgnore,
  RequestReader,
  type CassetteCall,
  type CassetteHeader,
  type ComparedRequest,
} from './cassette.ts';
import { cassetteWriter } from './cassette-file.ts';
import { redactedChunks, redactedResponse } from './redacted-answer.ts';

export interface RecordOptions {
  /** Hides secrets in the cassette. Default: the built-in rules. Give the replay the same one. */
  readonly redactor?: Redactor;
  /** Parts of requests that may differ in the replay, such as times in a prompt. */
  readonly ignore?: readonly RegExp[];
}

/**
 * Records the calls of a model to a file, for {@link replayModel}: each request, redacted, with its answer or failure, and
 * the chunks of a streamed one. The file is replaced by the first call, and each call is written when it ends.
 */
export function recordModel(
  driver: InferenceDriver,
  file: string | URL,
  options: RecordOptions = {},
): InferenceDriver {
  if (typeof driver?.infer !== 'function')
    throw invalidOption('recordModel driver', driver, 'a driver, such as openai({ model })');
  const recorder = new Recorder(driver, file, options);
  const { name, model, contextWindow } = driver;
  const { stream } = driver;
  return {
    name,
    ...(model !== undefined && { model }),
    ...(contextWindow !== undefined && { contextWindow }),
    infer: (request, given) => recorder.infer(request, given),
    ...(stream && { stream: (request, given) => recorder.stream(request, given) }),
  };
}

/** A call that runs. */
interface Begun {
  readonly call: number;
  readonly request: ComparedRequest;
}

class Recorder {
  readonly #driver: InferenceDriver;
  readonly #write: (line: object) => void;
  readonly #redactor: Redactor;
  readonly #reader: RequestReader;
  readonly #header: CassetteHeader;
  readonly #definitions: Set<string> = new Set();
  /** Calls by the hash of all of their messages. */
  readonly #calls: Map<string, number> = new Map();
  #count = 0;

  constructor(driver: InferenceDriver, file: string | URL, options: RecordOptions) {
    const { redactor = defaultRedactor } = options;
    const ignore = checkedIgnore(options.ignore);
    const { name, model, contextWindow } = driver;
    this.#driver = driver;
    this.#write = cassetteWriter(file);
    this.#redactor = redactor;
    this.#reader = new RequestReader(redactor, ignore);
    this.#header = {
      format: CASSETTE_FORMAT,
      version: CASSETTE_VERSION,
      driver: {
        name,
        ...(model !== undefined && { model }),
        ...(contextWindow !== undefined && { contextWindow }),
      },
      ignore: ignore.map(({ source, flags }) => [source, flags]),
    };
  }

  async infer(request: InferenceRequest, options: InferenceOptions): Promise<InferenceResponse> {
    const begun = this.#begin(request);
    try {
      const response = await this.#driver.infer(request, options);
      this.#end(begun, { response: redactedResponse(response, this.#redactor) });
      return response;
    } catch (error) {
      this.#end(begun, this.#failed(error, options));
      throw error;
    }
  }

  async *stream(
    request: InferenceRequest,
    options: InferenceOptions,
  ): AsyncGenerator<InferenceChunk> {
    const begun = this.#begin(request);
    const chunks: InferenceChunk[] = [];
    let response: InferenceResponse | null = null;
    let failure: Partial<CassetteCall> | null = null;
    try {
      for await (const chunk of this.#driver.stream?.(request, options) ?? []) {
        if (chunk.type === 'done') response = chunk.response;
        else chunks.push(chunk);
        yield chunk;
      }
    } catch (error) {
      failure = this.#failed(error, options);
      throw error;
    } finally {
      const end: Partial<CassetteCall> = response
        ? { response: redactedResponse(response, this.#redactor) }
        : // a reader that leaves early has aborted the call
          (failure ?? { aborted: true });
      const isWhole = response !== null;
      this.#end(begun, { chunks: redactedChunks(chunks, this.#redactor, isWhole), ...end });
    }
  }

  #begin(request: InferenceRequest): Begun {
    this.#count += 1;
    // read now, because the messages are the live list
    return { call: this.#count, request: this.#reader.read(request) };
  }

  #failed(error: unknown, { signal }: InferenceOptions): Partial<CassetteCall> {
    if (signal.aborted) return { aborted: true };
    // a mistake in the test, and not an answer
    if (AgentError.is(error) && error.code !== 'model_call_failed') throw error;
    return { failure: this.#redactor.value(readFailure(error)) };
  }

  #end({ call, request }: Begun, end: Partial<CassetteCall>): void {
    const { hash, definition, messages, prefixes } = request;
    if (this.#calls.size === 0 && this.#definitions.size === 0) this.#write(this.#header);
    if (!this.#definitions.has(definition.definition)) this.#write(definition);
    this.#definitions.add(definition.definition);
    const at = prefixes.findLastIndex((prefix) => this.#calls.has(prefix));
    const after = this.#calls.get(prefixes[at] ?? '');
    const line: CassetteCall = {
      call,
      hash,
      definition: definition.definition,
      ...(after !== undefined && { after }),
      messages: messages.slice(at + 1),
      ...end,
    };
    this.#write(line);
    const whole = prefixes.at(-1);
    if (whole !== undefined && !this.#calls.has(whole)) this.#calls.set(whole, call);
  }
}
