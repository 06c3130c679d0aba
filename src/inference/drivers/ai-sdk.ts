import { systemClock, type Clock } from '../../clock.ts';
import { AgentError, show } from '../../errors/agent-error.ts';
import { isRecord, type JsonObject } from '../../json.ts';
import type { InferenceChunk, InferenceDriver, InferenceResponse } from '../inference-driver.ts';
import { modelCallFailed } from '../inference-error.ts';
import { AiSdkAnswer } from './ai-sdk-answer.ts';
import { aiSdkError } from './ai-sdk-error.ts';
import { callOptions, type AiSdkSettings } from './ai-sdk-request.ts';
import { defaultPatience, within, type Patience } from './idle-timer.ts';

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
  const patience = { ...defaultPatience, ...options };
  const about = { provider: model.provider, version: model.specificationVersion };

  /** The packages send once and leave retrying to the caller; a failure comes out as its record. */
  const ask = async (
    method: 'doGenerate' | 'doStream',
    given: JsonObject | object,
  ): Promise<Record<string, unknown>> => {
    try {
      const asked = Promise.resolve(model[method](given as never)); // every version reads the same options
      const result = await within(asked, patience.firstTokenTimeoutMs, 'nothing', clock);
      if (isRecord(result)) return result;
    } catch (error) {
      throw aiSdkError(error, clock.now());
    }
    throw unreadable(`${method} returned no object`);
  };

  return {
    name: `${model.provider}:${model.modelId}`,
    model: model.modelId,
    async infer(request, { signal }): Promise<InferenceResponse> {
      const result = await ask('doGenerate', callOptions(request, options, about, signal));
      if (!Array.isArray(result['content'])) throw unreadable('its content is no list');
      const answer = new AiSdkAnswer(model.provider);
      for (const part of result['content'] as unknown[]) answer.take(part);
      answer.finish(result);
      return answer.response();
    },
    async *stream(request, { signal }): AsyncGenerator<InferenceChunk> {
      const { stream } = await ask('doStream', callOptions(request, options, about, signal));
      if (!(stream instanceof ReadableStream)) throw unreadable('it has no stream');
      const answer = new AiSdkAnswer(model.provider);
      const reader = (stream as ReadableStream<unknown>).getReader();
      try {
        for (;;) {
          const { done, value } = await within(
            reader.read(),
            patience.idleTimeoutMs,
            'nothing more',
            clock,
          );
          if (done) break;
          if (isRecord(value) && value['type'] === 'error') throw value['error'];
          yield* answer.read(value);
        }
      } catch (error) {
        throw aiSdkError(error, clock.now(), answer.partial);
      } finally {
        reader.cancel().catch(() => {});
      }
      if (!answer.isFinished)
        throw modelCallFailed(
          {
            type: 'timeout',
            code: 'stream_incomplete',
            message: 'The stream of the model ended before the answer was complete.',
          },
          answer.partial,
        );
      yield { type: 'done', response: answer.response() };
    },
  };
}

const unreadable = (what: string): AgentError =>
  modelCallFailed({
    type: 'validation',
    code: 'unreadable_body',
    message: `The model's answer cannot be read: ${what}.`,
  });
