import type { JsonObject } from '../../json.ts';
import type { InferenceRequest } from '../inference-driver.ts';
import type { AnswerFormat } from './answer-format.ts';
import type { OpenAIClient, SendOptions } from './openai-client.ts';

/** One of the APIs of a server: its requests, its endpoint and its answers. */
export interface ModelApi {
  body(request: InferenceRequest, isStream: boolean): JsonObject;
  create(
    client: OpenAIClient,
    body: JsonObject,
    options: SendOptions,
  ): { asResponse(): Promise<Response> };
  /** Default: Chat Completions. */
  readonly format?: AnswerFormat;
}
