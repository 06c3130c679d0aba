import { systemClock, type Clock } from '../../clock.ts';
import { wellFormed } from '../../well-formed.ts';
import { invalidOption } from '../../errors/agent-error.ts';
import type {
  InferenceChunk,
  InferenceDriver,
  InferenceOptions,
  InferenceRequest,
  InferenceResponse,
} from '../inference-driver.ts';
import { modelCallFailed } from '../inference-error.ts';
import { checkedPromptCache } from './cache-marks.ts';
import { MAX_ANSWER_BYTES, tooLarge } from './answer-size.ts';
import { ChatAnswer, chatFormat } from './chat-answer.ts';
import { chatMarkWire } from './chat-marks.ts';
import { chatBody, type ChatSettings } from './chat-request.ts';
import { familyOf } from './model-family.ts';
import type { ModelApi } from './model-api.ts';
import { connectionError } from './connection-error.ts';
import {
  accountOf,
  checkAddress,
  connect,
  hasResponses,
  isOpenAI,
  secretsOf,
  serverOf,
  withoutSecrets,
  type OpenAIConnection,
} from './openai-client.ts';
import type { ResponsesSettings } from './responses-request.ts';
import { patienceOf, RequestWatch, type Patience } from './request-watch.ts';
import { headerMap } from './retry-after.ts';

export interface OpenAIOptions extends OpenAIConnection, ChatSettings, ResponsesSettings, Patience {
  /** The API to use. Default `responses` at OpenAI and at Azure's `/openai/v1`, `chat` at other servers. */
  readonly api?: 'responses' | 'chat';
  readonly clock?: Clock;
}

/** Creates a driver for the Responses API and for Chat Completions, with the official SDK: `withModel(openai('gpt-5'))`. */
export function openai(model: string, options: OpenAIOptions = {}): InferenceDriver {
  if (typeof model !== 'string' || model === '')
    throw invalidOption('openai()', model, 'the name of a model');
  checkAddress(options.baseURL);
  const { clock = systemClock } = options;
  const patience = patienceOf(options);
  const server = serverOf(options);
  const apiName = apiOf(options);
  checkSettings(apiName, options);
  let client: ReturnType<typeof connect> | undefined;
  let api: ModelApi | undefined;

  /** Sends one request without a retry: the loop counts all retries. */
  const send = async (
    request: InferenceRequest,
    signal: AbortSignal,
    isStream: boolean,
  ): Promise<Response> => {
    client ??= connect(options, clock);
    const connected = await client.catch((error: unknown) => {
      client = undefined;
      throw error;
    });
    api ??= await loadApi(apiName, model, options, server, accountOf(connected));
    const body = wellFormed(api.body(request, isStream));
    return api
      .create(connected, body, { signal, maxRetries: 0, timeout: MAX_TIMEOUT_MS })
      .asResponse();
  };

  async function* exchange(
    request: InferenceRequest,
    given: InferenceOptions,
    isStream: boolean,
  ): AsyncGenerator<InferenceChunk> {
    const { signal } = given;
    const { streamMs, wholeMs, idleMs } = patience;
    const watch = new RequestWatch(signal, isStream ? streamMs : wholeMs, idleMs, clock);
    let answer: ChatAnswer | null = null;
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    const close = (): void => void reader?.cancel().catch(() => {});
    try {
      const response = await watch.race(send(request, watch.signal, isStream));
      watch.received(false);
      const { status, headers } = response;
      const origin = { status, headers: headerMap(headers), server, now: clock.now() };
      answer = new ChatAnswer(origin, api?.format);
      given.reported?.(answer.report);
      let isReported = false;
      reader = response.body?.getReader();
      watch.onOver(close);
      let bytes = 0;
      while (reader && !answer.isDone) {
        watch.listen();
        const { done, value } = await reader.read();
        if (done) break;
        if ((bytes += value.length) > MAX_ANSWER_BYTES) throw tooLarge(answer.partial);
        const chunks = answer.feed(value);
        if (!isReported && answer.hasModel) {
          isReported = true;
          given.reported?.(answer.report);
        }
        watch.received(isStream ? answer.hasBegun : value.some(hasContent));
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
    async infer(request, given): Promise<InferenceResponse> {
      for await (const chunk of exchange(request, given, false))
        if (chunk.type === 'done') return chunk.response;
      throw modelCallFailed({
        type: 'validation',
        code: 'unreadable_body',
        message: 'The provider sent no answer.',
      });
    },
    stream: (request, given) => exchange(request, given, true),
  };
}

/** Returns the API to use. */
function apiOf(options: OpenAIOptions): 'responses' | 'chat' {
  const { api } = options;
  if (api !== undefined && api !== 'responses' && api !== 'chat')
    throw invalidOption('api', api, "'responses' or 'chat'");
  return api ?? (hasResponses(options) ? 'responses' : 'chat');
}

/** Rejects settings that the API does not have, because a request without them would do something else. */
function checkSettings(api: 'responses' | 'chat', options: OpenAIOptions): void {
  const cache = checkedPromptCache(options.promptCache);
  if (cache === 'on' && (api === 'responses' || isOpenAI(options)))
    throw invalidOption('promptCache', cache, "'auto' or 'off': this API caches without marks");
  const absent = api === 'chat' ? onlyResponses : onlyChat;
  for (const name of absent)
    if (options[name] !== undefined)
      throw invalidOption(
        name,
        options[name],
        api === 'chat'
          ? `no value: Chat Completions has no such setting. Pass { api: 'responses' } or remove it`
          : `no value: the Responses API has no such setting. Pass { api: 'chat' } or remove it`,
      );
}

const onlyChat = ['stop', 'seed'] as const;
const onlyResponses = ['reasoningSummary', 'builtInTools'] as const;

async function loadApi(
  name: 'responses' | 'chat',
  model: string,
  options: OpenAIOptions,
  server: string,
  account: string,
): Promise<ModelApi> {
  const developerRole = isOpenAI(options) ? 'developer' : 'system';
  if (name === 'responses') {
    const { responsesApi } = await import('./responses-api.ts');
    return responsesApi(model, options, server, developerRole, account);
  }
  const maxTokensField = isOpenAI(options) ? 'max_completion_tokens' : 'max_tokens';
  const family = familyOf(model);
  const marks = chatMarkWire(server, model, checkedPromptCache(options.promptCache));
  const dialect = { maxTokensField, developerRole, server, model: family, marks } as const;
  return {
    format: chatFormat(family),
    body: (request, isStream) => chatBody(model, request, options, dialect, isStream),
    create: ({ chat }, body, given) => chat.completions.create(body as never, given),
  };
}

/** Whether a chunk has more than white space, which servers send to keep the connection open. */
const hasContent = (byte: number): boolean => byte > 0x20;

/** Large enough never to apply: the watch and the loop's deadline end a request. */
const MAX_TIMEOUT_MS = 0x7fffffff;
