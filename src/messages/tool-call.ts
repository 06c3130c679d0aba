import type { JsonObject } from '../json.ts';
import { wellFormed } from '../well-formed.ts';

/** A recorded tool call: `id` is generated here and unique in the execution. */
export interface ToolCall {
  readonly id: string;
  /** The provider's id, if it differs; it is sent to the provider. */
  readonly providerId?: string;
  readonly name: string;
  readonly args: JsonObject;
  /** Name of the tool through which the model called this one, as it is sent back to the provider. */
  readonly via?: string;
  /** The model's text, stored only if it is not an object; then `args` is `{}`. */
  readonly argsRaw?: string;
}

/** Returns name and arguments of a call as the model wrote them, well-formed for a provider that parses them. */
export function sentCall({ name, args: given, via }: ToolCall): Pick<ToolCall, 'name' | 'args'> {
  const args = wellFormed(given);
  return via === undefined ? { name, args } : { name: via, args: { name, arguments: args } };
}
