import { systemClock, type Clock } from '../../clock.ts';
import type { AgentError } from '../../errors/agent-error.ts';
import { isRecord } from '../../json.ts';
import type {
  InferenceChunk,
  InferenceDriver,
  InferenceRequest,
  InferenceResponse,
} from '../inference-driver.ts';
import { brokenOff, modelCallFailed, type PartialAnswer } from '../inference-error.ts';
import { AiSdkAnswer } from './ai-sdk-answer.ts';
import { MAX_ANSWER_BYTES, partSize, tooLarge } from './answer-size.ts';
import { aiSdkError } from './ai-sdk-error.ts';
import { aiSdkMarkWire } from './ai-sdk-marks.ts';
import { namesOfAiSdkModel, type AiSdkModel } from './ai-sdk-model.ts';
import { supportedUrlsOf, type ModelFacts } from './ai-sdk-prompt.ts';
import { callOptions, textToolsOf, type AiSdkSettings } from './ai-sdk-request.ts';
import { checkedPromptCache } from './cache-marks.ts';
import { familyOf } from './model-family.ts';
import { patienceOf, RequestWatch, type Patience } from './request-watch.ts';

export { isAiSdkModel, type AiSdkModel } from './ai-sdk-model.ts';

export interface AiSdkOptions extends AiSdkSettings, Patience {
  readonly clock?: Clock;
  /**
   * Name of the account. Set it if a fallback model uses another account of the same provider, because signed and
   * encrypted state goes back only to the same one.
   */
  readonly account?: string;
}

/** Creates a driver for an AI SDK model of specification v2 to v4: `withModel(aiSdk(anthropic('claude-…')))`. */
export function aiSdk(model: AiSdkModel, options: AiSdkOptions = {}): InferenceDriver {
  const names = namesOfAiSdkModel(model);
  const { clock = systemClock, account } = options;
  const family = familyOf(model.modelId);
  const patience = patienceOf(options);
  const marks = aiSdkMarkWire(model, checkedPromptCache(options.promptCache));
  const textTools = textToolsOf(options.providerTools);
  let about: ModelFacts | undefined;
  const facts = async (): Promise<ModelFacts> => {
    const supportedUrls = await supportedUrlsOf(model);
    const { provider, specificationVersion: version } = model;
    return (about ??= {
      provider,
      version,
      family,
      marks,
      textTools,
      dropsSchema: dropsSchema(model),
      ...(account !== undefined && { account }),
      ...(supportedUrls && { supportedUrls }),
    });
  };

  /** Sends one request. The packages leave retries to the caller. */
  const ask = async (
    method: 'doGenerate' | 'doStream',
    request: InferenceRequest,
    watch: RequestWatch,
  ): Promise<Record<string, unknown>> => {
    const given = callOptions(request, options, about ?? (await facts()), watch.signal);
    // the same shape in every version
    const result = await watch.race(Promise.resolve(model[method](given as never)));
    if (isRecord(result)) return result;
    throw unreadable(`${method} returned no object`);
  };

  const failure = (watch: RequestWatch, error: unknown, answer: AiSdkAnswer): AgentError =>
    watch.silence
      ? modelCallFailed(watch.silence, answer.partial)
      : aiSdkError(error, clock.now(), answer.partial);

  return {
    ...names,
    async infer(request, { signal }): Promise<InferenceResponse> {
      const watch = new RequestWatch(signal, patience.wholeMs, patience.idleMs, clock);
      const answer = new AiSdkAnswer(model.provider, family, account, textTools);
      try {
        const result = await ask('doGenerate', request, watch);
        answer.about(result);
        if (!Array.isArray(result['content'])) throw unreadable('its content is not a list');
        for (const part of result['content'] as unknown[]) answer.take(part);
        answer.finish(result);
        return answer.response();
      } catch (error) {
        throw watch.isCancelled ? signal.reason : failure(watch, error, answer);
      } finally {
        watch.release();
      }
    },
    async *stream(request, given): AsyncGenerator<InferenceChunk> {
      const { signal } = given;
      const watch = new RequestWatch(signal, patience.streamMs, patience.idleMs, clock);
      const answer = new AiSdkAnswer(model.provider, family, account, textTools);
      let reader: ReadableStreamDefaultReader<unknown> | undefined;
      const close = (): void => void reader?.cancel().catch(() => {});
      try {
        const result = await ask('doStream', request, watch);
        watch.received(false);
        answer.about(result);
        given.reported?.(answer.report);
        let isReported = false;
        let bytes = 0;
        const { stream } = result;
        if (!isStream(stream)) throw unreadable('it has no stream');
        reader = stream.getReader();
        watch.onOver(close);
        for (;;) {
          watch.listen();
          const { done, value } = await reader.read();
          if (done) break;
          if (isRecord(value) && value['type'] === 'error') throw value['error'];
          if (isRecord(value) && (bytes += partSize(value)) > MAX_ANSWER_BYTES)
            throw tooLarge(answer.partial);
          const chunks = answer.read(value);
          if (!isReported && answer.hasModel) {
            isReported = true;
            given.reported?.(answer.report);
          }
          watch.received(chunks.length > 0);
          for (const chunk of chunks) yield chunk;
        }
        watch.signal.throwIfAborted();
        if (!answer.isFinished)
          throw answer.isPage
            ? unreadable('the server sent a web page', answer.partial)
            : brokenOff(answer.partial);
      } catch (error) {
        throw watch.isCancelled ? signal.reason : failure(watch, error, answer);
      } finally {
        watch.release();
        close();
      }
      yield { type: 'done', response: answer.response() };
    },
  };
}

/** Whether the package says that it sends a response format without its schema. */
const dropsSchema = (model: object): boolean =>
  (model as { readonly supportsStructuredOutputs?: unknown }).supportsStructuredOutputs === false;

/** Whether a value has the shape of a stream: it may come from another realm or a polyfill. */
const isStream = (value: unknown): value is ReadableStream<unknown> =>
  isRecord(value) && typeof value['getReader'] === 'function';

const unreadable = (what: string, partial: PartialAnswer = {}): AgentError =>
  modelCallFailed(
    {
      type: 'validation',
      code: 'unreadable_body',
      message: `The model's answer cannot be read: ${what}.`,
    },
    partial,
  );
