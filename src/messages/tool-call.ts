import type { JsonObject } from '../json.ts';

/** A recorded tool call: `id` is generated here and unique in the execution. */
export interface ToolCall {
  readonly id: string;
  /** The provider's id, if it differs; it is sent to the provider. */
  readonly providerId?: string;
  readonly name: string;
  readonly args: JsonObject;
  /** The model's text, stored only if it is not an object; then `args` is `{}`. */
  readonly argsRaw?: string;
}
