import type { JsonObject } from '../json.ts';
import type { Messages } from '../messages/messages.ts';
import type { ToolSchema } from '../tools/tool.ts';
import type { JsonSchema } from '../tools/schema.ts';
import type { Usage } from './usage.ts';

export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'error';

/** `none` forbids tools, `required` asks for one, `{ tool }` for a certain one. */
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
  readonly messages: Messages;
  readonly tools: readonly ToolSchema[];
  readonly toolChoice: ToolChoice;
  readonly responseFormat: ResponseFormat | null;
}

/** A call as the model made it: arguments as an object, or as the text that has to be read. */
export interface InferredToolCall {
  /** Null or '' when the provider gave none. */
  readonly id?: string | null;
  readonly name: string;
  readonly args?: unknown;
  readonly argsRaw?: string;
}

export interface InferenceResponse {
  /** What the model said to a person; never tool arguments. */
  readonly content: string;
  readonly toolCalls: readonly InferredToolCall[];
  readonly reasoning?: string | null;
  readonly refusal?: string | null;
  readonly finishReason: FinishReason | (string & {});
  /** Null when the wire reported none. */
  readonly usage: Partial<Usage> | null;
  /** In the currency of the price table; null or absent when the price is unknown. */
  readonly cost?: number | null;
  /** Kept with the assistant message, for what a provider wants back on the next call. */
  readonly metadata?: JsonObject;
}

/** A piece of a streamed response. The last one is `done` with the whole response. */
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

/** The one door to models. Retries belong to the loop, so a driver sends each request once. */
export interface InferenceDriver {
  readonly name: string;
  /** What the provider calls the model; prices are looked up by it. */
  readonly model?: string;
  infer(
    request: InferenceRequest,
    options: { readonly signal: AbortSignal },
  ): Promise<InferenceResponse>;
  stream?(
    request: InferenceRequest,
    options: { readonly signal: AbortSignal },
  ): AsyncIterable<InferenceChunk>;
}
