import { systemClock, type Clock } from '../../clock.ts';
import { AgentError, show } from '../../errors/agent-error.ts';
import { isRecord } from '../../json.ts';
import type {
  InferenceChunk,
  InferenceDriver,
  InferenceRequest,
  InferenceResponse,
} from '../inference-driver.ts';
import { brokenOff, modelCallFailed } from '../inference-error.ts';
import { AiSdkAnswer } from './ai-sdk-answer.ts';
import { aiSdkError } from './ai-sdk-error.ts';
import { callOptions, type AiSdkSettings } from './ai-sdk-request.ts';
import { patienceOf, RequestWatch, type Patience } from './request-watch.ts';

/** Any AI SDK language model; only its shape counts, so no package of theirs is needed here. */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

export interface AiSdkOptions extends AiSdkSettings, Patience {
  readonly clock?: Clock;
}

const versions = ['v2', 'v3', 'v4'];

/** Whether a value is a language model of the AI SDK, of a version that we read. */
export const isAiSdkModel = (value: unknown): value is AiSdkModel =>
  isRecord(value) &&
  typeof value['doGenerate'] === 'function' &&
  typeof value['doStream'] === 'function';

/** A model of the AI SDK, specification v2 to v4: `withModel(aiSdk(anthropic('claude-…')))`. */
export function aiSdk(model: AiSdkModel, options: AiSdkOptions = {}): InferenceDriver {
  if (!isAiSdkModel(model) || !versions.includes(model.specificationVersion))
    throw new AgentError(
      'invalid_option',
      `aiSdk() got ${show(isAiSdkModel(model) ? model.specificationVersion : model)}, expected a language model of specification ${versions.join(', ')}.`,
    );
  const { clock = systemClock } = options;
  const patience = patienceOf(options);
  const about = { provider: model.provider, version: model.specificationVersion };

  /** The packages send once and leave retrying to the caller. */
  const ask = async (
    method: 'doGenerate' | 'doStream',
    request: InferenceRequest,
    watch: RequestWatch,
  ): Promise<Record<string, unknown>> => {
    const given = callOptions(request, options, about, watch.signal);
    const result = await watch.race(Promise.resolve(model[method](given as never))); // every version reads the same
    if (isRecord(result)) return result;
    throw unreadable(`${method} returned no object`);
  };

  const failure = (watch: RequestWatch, error: unknown, answer: AiSdkAnswer): AgentError =>
    watch.silence
      ? modelCallFailed(watch.silence, answer.partial)
      : aiSdkError(error, clock.now(), answer.partial);

  return {
    name: `${model.provider}:${model.modelId}`,
    model: model.modelId,
    async infer(request, { signal }): Promise<InferenceResponse> {
      const watch = new RequestWatch(signal, patience.wholeMs, patience.idleMs, clock);
      const answer = new AiSdkAnswer(model.provider);
      try {
        const result = await ask('doGenerate', request, watch);
        if (!Array.isArray(result['content'])) throw unreadable('its content is no list');
        for (const part of result['content'] as unknown[]) answer.take(part);
        answer.finish(result);
        return answer.response();
      } catch (error) {
        throw watch.isCancelled ? signal.reason : failure(watch, error, answer);
      } finally {
        watch.release();
      }
    },
    async *stream(request, { signal }): AsyncGenerator<InferenceChunk> {
      const watch = new RequestWatch(signal, patience.streamMs, patience.idleMs, clock);
      const answer = new AiSdkAnswer(model.provider);
      let reader: ReadableStreamDefaultReader<unknown> | undefined;
      const close = (): void => void reader?.cancel().catch(() => {});
      try {
        const { stream } = await ask('doStream', request, watch);
        watch.heard(false);
        if (!isStream(stream)) throw unreadable('it has no stream');
        reader = stream.getReader();
        watch.onOver(close);
        for (;;) {
          watch.listen();
          const { done, value } = await reader.read();
          if (done) break;
          if (isRecord(value) && value['type'] === 'error') throw value['error'];
          const chunks = answer.read(value);
          watch.heard(chunks.length > 0);
          for (const chunk of chunks) yield chunk;
        }
        watch.signal.throwIfAborted();
        if (!answer.isFinished) throw brokenOff(answer.partial);
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

/** By its shape: it may come from another realm or a polyfill. */
const isStream = (value: unknown): value is ReadableStream<unknown> =>
  isRecord(value) && typeof value['getReader'] === 'function';

const unreadable = (what: string): AgentError =>
  modelCallFailed({
    type: 'validation',
    code: 'unreadable_body',
    message: `The model's answer cannot be read: ${what}.`,
  });
