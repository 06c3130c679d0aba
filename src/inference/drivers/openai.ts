import { systemClock, type Clock } from '../../clock.ts';
import { invalidOption } from '../../errors/agent-error.ts';
import type {
  InferenceChunk,
  InferenceDriver,
  InferenceRequest,
  InferenceResponse,
} from '../inference-driver.ts';
import { modelCallFailed } from '../inference-error.ts';
import { ChatAnswer } from './chat-answer.ts';
import { chatBody, type ChatSettings } from './chat-request.ts';
import type { ChatDialect } from './chat-wire.ts';
import { connectionError } from './connection-error.ts';
import {
  checkAddress,
  connect,
  isOpenAI,
  secretsOf,
  serverOf,
  withoutSecrets,
  type OpenAIConnection,
} from './openai-client.ts';
import { patienceOf, RequestWatch, type Patience } from './request-watch.ts';
import { headerMap } from './retry-after.ts';

export interface OpenAIOptions extends OpenAIConnection, ChatSettings, Patience {
  readonly clock?: Clock;
}

/** A model behind Chat Completions, over the official SDK: `withModel(openai('gpt-5'))`. */
export function openai(model: string, options: OpenAIOptions = {}): InferenceDriver {
  if (typeof model !== 'string' || model === '')
    throw invalidOption('openai()', model, 'the name of a model');
  checkAddress(options.baseURL);
  const { clock = systemClock } = options;
  const patience = patienceOf(options);
  const server = serverOf(options);
  const dialect: ChatDialect = isOpenAI(options)
    ? { maxTokensField: 'max_completion_tokens', developerRole: 'developer', server }
    : { maxTokensField: 'max_tokens', developerRole: 'system', server };
  let client: ReturnType<typeof connect> | undefined;

  /** One request, never retried here: the loop keeps the one account of retries. */
  const send = async (
    request: InferenceRequest,
    signal: AbortSignal,
    isStream: boolean,
  ): Promise<Response> => {
    client ??= connect(options, clock);
    const { chat } = await client.catch((error: unknown) => {
      client = undefined;
      throw error;
    });
    const body = chatBody(model, request, options, dialect, isStream);
    return chat.completions
      .create(body as never, { signal, maxRetries: 0, timeout: LONGEST_TIMEOUT_MS })
      .asResponse();
  };

  async function* exchange(
    request: InferenceRequest,
    signal: AbortSignal,
    isStream: boolean,
  ): AsyncGenerator<InferenceChunk> {
    const { streamMs, wholeMs, idleMs } = patience;
    const watch = new RequestWatch(signal, isStream ? streamMs : wholeMs, idleMs, clock);
    let answer: ChatAnswer | null = null;
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    const close = (): void => void reader?.cancel().catch(() => {});
    try {
      const response = await watch.race(send(request, watch.signal, isStream));
      watch.heard(false);
      const { status, headers } = response;
      answer = new ChatAnswer({ status, headers: headerMap(headers), server, now: clock.now() });
      reader = response.body?.getReader();
      watch.onOver(close);
      while (reader && !answer.isDone) {
        watch.listen();
        const { done, value } = await reader.read();
        if (done) break;
        const chunks = answer.feed(value);
        watch.heard(isStream ? answer.hasBegun : value.some(isInk));
        for (const chunk of chunks) yield chunk;
      }
      watch.signal.throwIfAborted();
      for (const chunk of answer.end()) yield chunk;
      if (answer.failure) throw answer.failure;
    } catch (error) {
      if (watch.isCancelled) throw signal.reason;
      const partial = answer?.partial;
      const failure = watch.silence
        ? modelCallFailed(watch.silence, partial)
        : connectionError(error, clock.now(), partial);
      throw withoutSecrets(failure, secretsOf(options));
    } finally {
      watch.release();
      close();
    }
  }

  return {
    name: `openai:${model}`,
    model,
    async infer(request, { signal }): Promise<InferenceResponse> {
      for await (const chunk of exchange(request, signal, false))
        if (chunk.type === 'done') return chunk.response;
      throw modelCallFailed({
        type: 'validation',
        code: 'unreadable_body',
        message: 'The provider sent no answer.',
      });
    },
    stream: (request, { signal }) => exchange(request, signal, true),
  };
}

/** Servers send white space to keep the line open while a whole answer is in the making. */
const isInk = (byte: number): boolean => byte > 0x20;

/** Long enough never to matter: the watch and the loop's deadline bind. */
const LONGEST_TIMEOUT_MS = 0x7fffffff;
