import type { OpenAI } from 'openai';
import { systemClock, type Clock } from '../../clock.ts';
import { AgentError, invalidOption } from '../../errors/agent-error.ts';
import { isRecord, parseJson } from '../../json.ts';
import type {
  InferenceChunk,
  InferenceDriver,
  InferenceRequest,
  InferenceResponse,
} from '../inference-driver.ts';
import { modelCallFailed, type PartialAnswer } from '../inference-error.ts';
import { readCompletion } from './chat-completion.ts';
import { chatBody, type ChatDialect, type ChatSettings } from './chat-request.ts';
import { ChatStream } from './chat-stream.ts';
import { connectionError } from './connection-error.ts';
import { defaultPatience, within, type Patience } from './idle-timer.ts';
import { isErrorBody, providerError } from './provider-error.ts';
import { SseReader, type SseEvent } from './sse.ts';

export interface OpenAIOptions extends ChatSettings, Patience {
  readonly apiKey?: string;
  /** Variable of the environment that holds the key. Default OPENAI_API_KEY, unless `baseURL` is set: a key is never sent to another server. */
  readonly apiKeyVariable?: string;
  /** Any server that speaks Chat Completions. Default: OpenAI. */
  readonly baseURL?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
  /** A client of your own, such as `new AzureOpenAI(...)`; then key, address and headers are its business. */
  readonly client?: OpenAI;
  readonly clock?: Clock;
}

/** A model behind Chat Completions, over the official SDK: `withModel(openai('gpt-5'))`. */
export function openai(model: string, options: OpenAIOptions = {}): InferenceDriver {
  if (typeof model !== 'string' || model === '')
    throw invalidOption('openai()', model, 'the name of a model');
  const { clock = systemClock, baseURL } = options;
  const patience = { ...defaultPatience, ...options };
  const dialect: ChatDialect = baseURL
    ? { maxTokensField: 'max_tokens', developerRole: 'system' }
    : { maxTokensField: 'max_completion_tokens', developerRole: 'developer' };
  let client: Promise<OpenAI> | undefined;

  /** One request, never retried here; a refusal comes out as its record. */
  const send = async (
    request: InferenceRequest,
    signal: AbortSignal,
    stream: boolean,
  ): Promise<Response> => {
    client ??= options.client ? Promise.resolve(options.client) : connect(options, clock);
    const { chat } = await client;
    const body = chatBody(model, request, options, dialect, stream);
    const sent = chat.completions
      .create(body as never, { signal, maxRetries: 0, timeout: LONGEST_TIMEOUT_MS }) // the loop's deadline binds
      .asResponse();
    try {
      return await within(sent, patience.firstTokenTimeoutMs, 'nothing', clock);
    } catch (error) {
      throw connectionError(error, clock.now());
    }
  };

  return {
    name: `openai:${model}`,
    model,
    async infer(request, { signal }): Promise<InferenceResponse> {
      const response = await send(request, signal, false);
      return readBody(response, await textOf(response, clock), clock);
    },
    async *stream(request, { signal }): AsyncGenerator<InferenceChunk> {
      const response = await send(request, signal, true);
      yield* readStream(response, patience.idleTimeoutMs, clock);
    },
  };
}

/** Long enough never to matter. */
const LONGEST_TIMEOUT_MS = 0x7fffffff;

async function connect(options: OpenAIOptions, clock: Clock): Promise<OpenAI> {
  const sdk = await import('openai').catch((cause: unknown) => {
    throw new AgentError(
      'driver_missing',
      'The OpenAI driver needs the official SDK, which is not installed. Run: npm install openai',
      { cause },
    );
  });
  const apiKey = options.apiKey ?? keyFromEnvironment(options);
  return new sdk.OpenAI({
    apiKey,
    baseURL: options.baseURL ?? null,
    maxRetries: 0,
    defaultHeaders: { ...options.headers },
    fetch: refusing(options.fetch ?? globalThis.fetch, clock),
  });
}

/** A server of one's own often needs no key; the SDK wants one all the same. */
function keyFromEnvironment({ apiKeyVariable, baseURL }: OpenAIOptions): string {
  const variable = apiKeyVariable ?? (baseURL ? null : 'OPENAI_API_KEY');
  if (variable === null) return 'none';
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const key = process?.env?.[variable];
  if (key) return key;
  throw new AgentError(
    'invalid_option',
    `No API key was found in ${variable}. Set it, pass { apiKey }, or pass { baseURL } of a server that needs none.`,
  );
}

/** Reads refusals before the SDK does: it drops bodies that are not the JSON it expects. */
const refusing =
  (send: typeof fetch, clock: Clock): typeof fetch =>
  async (input, init) => {
    const response = await send(input, init);
    if (response.ok) return response;
    const body = await response.text();
    throw modelCallFailed(providerError(response.status, headersOf(response), body, clock.now()));
  };

const headersOf = (response: Response): Record<string, string> =>
  Object.fromEntries(response.headers.entries());

async function textOf(response: Response, clock: Clock): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw connectionError(error, clock.now());
  }
}

/** A whole body: an answer, an error that came with HTTP 200, or nothing that can be read. */
function readBody(response: Response, text: string, clock: Clock): InferenceResponse {
  const parsed = parseJson(text);
  if (parsed.ok && isErrorBody(parsed.value))
    throw modelCallFailed(providerError(response.status, headersOf(response), text, clock.now()));
  const answer = parsed.ok ? readCompletion(parsed.value) : null;
  if (answer) return answer;
  const what = parsed.ok ? 'no choice in it' : `no JSON (${parsed.error})`;
  throw modelCallFailed({
    type: 'validation',
    code: 'unreadable_body',
    message: `The provider's answer cannot be read: ${what}. It begins: ${text.slice(0, 120)}`,
    status: response.status,
  });
}

async function* readStream(
  response: Response,
  idleMs: number,
  clock: Clock,
): AsyncGenerator<InferenceChunk> {
  const reader = response.body?.getReader();
  const sse = new SseReader();
  const answer = new ChatStream();
  let isDone = false;

  const take = (event: SseEvent): InferenceChunk[] => {
    if (event.data.trim() === '[DONE]') {
      isDone = true;
      return [];
    }
    const parsed = parseJson(event.data);
    if (!parsed.ok || !isRecord(parsed.value)) {
      if (event.event === 'error') throw inStream(event.data);
      return [];
    }
    if (event.event === 'error' || isErrorBody(parsed.value)) {
      answer.read(parsed.value);
      throw inStream(event.data);
    }
    return answer.read(parsed.value);
  };
  const partial = (): PartialAnswer => (answer.usage ? { usage: answer.usage } : {});
  const inStream = (body: string): AgentError =>
    modelCallFailed(
      providerError(response.status, headersOf(response), body, clock.now()),
      partial(),
    );

  try {
    while (reader && !isDone) {
      const { done, value } = await within(reader.read(), idleMs, 'nothing more', clock);
      for (const event of done ? sse.end() : sse.feed(value)) yield* take(event);
      if (done) break;
    }
  } catch (error) {
    throw connectionError(error, clock.now(), partial());
  } finally {
    reader?.cancel().catch(() => {});
  }
  if (sse.plainText.trim() !== '') {
    yield* whole(readBody(response, sse.plainText.trim(), clock));
    return;
  }
  if (!isDone && !answer.isFinished)
    throw modelCallFailed(
      {
        type: 'timeout',
        code: 'stream_incomplete',
        message: 'The stream of the model ended before the answer was complete.',
      },
      partial(),
    );
  const rest = answer.rest();
  if (rest !== '') yield { type: 'content', text: rest };
  yield { type: 'done', response: answer.response() };
}

/** A stream that was answered with one JSON body. */
function* whole(response: InferenceResponse): Generator<InferenceChunk> {
  if (response.content !== '') yield { type: 'content', text: response.content };
  yield { type: 'done', response };
}
