import type { JsonObject } from '../json.ts';
import type { FilePart, ImagePart } from '../messages/content-part.ts';
import type { CacheTtl } from '../messages/cache-mark.ts';
import type { Messages } from '../messages/messages.ts';
import type { ToolSchema } from '../tools/tool.ts';
import type { JsonSchema } from '../tools/schema.ts';
import type { ProviderReport } from './model-call-info.ts';
import type { Usage } from './usage.ts';

/** Why an answer ended. After `pause_turn` the provider continues the same turn with the next request. */
export type FinishReason =
  | 'stop'
  | 'tool_calls'
  | 'length'
  | 'content_filter'
  | 'error'
  | 'pause_turn';

/** Tool choice: `none` forbids tools, `required` requires one, `{ tool }` requires a specific one. */
export type ToolChoice<Name extends string = string> =
  | 'auto'
  | 'none'
  | 'required'
  | { readonly tool: Name };

export interface ResponseFormat {
  readonly name: string;
  readonly schema: JsonSchema;
}

/** One model call. `messages` is the live conversation, never a copy; `system` goes before it. */
export interface InferenceRequest {
  readonly system: string | null;
  /**
   * How long the cache mark at the end of the system prompt lasts; `false` if the prompt changes with each call, so that
   * only the tools before it can be cached. Absent if there is no mark.
   */
  readonly systemCache?: CacheTtl | false;
  readonly messages: Messages;
  readonly tools: readonly ToolSchema[];
  readonly toolChoice: ToolChoice;
  readonly responseFormat: ResponseFormat | null;
}

/** A call as the model wrote it: arguments as an object, or as text to parse. */
export interface InferredToolCall {
  /** Id of the provider; null or '' if it sent none. */
  readonly id?: string | null;
  readonly name: string;
  readonly args?: unknown;
  readonly argsRaw?: string;
}

export interface InferenceResponse extends ProviderReport {
  /** Text for the user; never tool arguments. */
  readonly content: string;
  readonly toolCalls: readonly InferredToolCall[];
  readonly reasoning?: string | null;
  readonly refusal?: string | null;
  readonly finishReason: FinishReason | (string & {});
  /** Images and files of the answer, which become parts of the message. */
  readonly files?: readonly (ImagePart | FilePart)[];
  /** Usage; null if the wire reported none. */
  readonly usage: Partial<Usage> | null;
  /** Cost in the currency of the price table; null or absent if the price is unknown. */
  readonly cost?: number | null;
  /** Metadata to store with the assistant message, for state that a provider expects with the next call. */
  readonly metadata?: JsonObject;
}

/** A chunk of a streamed response. The last one is `done` with the whole response. */
export type InferenceChunk =
  | { readonly type: 'content'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | {
      readonly type: 'tool_call';
      /** Position of the call in the response. */
      readonly index: number;
      readonly id?: string | null;
      readonly name?: string;
      readonly argsDelta: string;
    }
  | { readonly type: 'usage'; readonly usage: Partial<Usage>; readonly cost?: number | null }
  | { readonly type: 'done'; readonly response: InferenceResponse };

/** What a driver gets with a request. */
export interface InferenceOptions {
  readonly signal: AbortSignal;
  /** Notes how many milliseconds the request waited before it was sent. Waiting is no part of the time to the first token. */
  queued?(ms: number): void;
  /** Notes what the provider reports before the answer is complete, for a call that ends early. A later report adds to it. */
  reported?(report: ProviderReport): void;
}

/** Access to a model. The loop does all retries, so a driver sends each request once. */
export interface InferenceDriver {
  readonly name: string;
  /** The provider's name of the model, used to look up prices. */
  readonly model?: string;
  /** Tokens that a request and its answer may have together. Default: what is known of `model`. */
  readonly contextWindow?: number;
  infer(request: InferenceRequest, options: InferenceOptions): Promise<InferenceResponse>;
  stream?(request: InferenceRequest, options: InferenceOptions): AsyncIterable<InferenceChunk>;
}
