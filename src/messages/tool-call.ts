import type { JsonObject } from '../json.ts';

/** A tool call as recorded: `id` is ours and unique in the execution. */
export interface ToolCall {
  readonly id: string;
  /** The provider's id, where ours differs; it is what goes back on the wire. */
  readonly providerId?: string;
  readonly name: string;
  readonly args: JsonObject;
  /** The text the model sent, kept only where it could not be read as an object; then `args` is `{}`. */
  readonly argsRaw?: string;
}
