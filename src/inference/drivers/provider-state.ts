import { isRecord, type JsonObject, type JsonValue } from '../../json.ts';
import type { Message } from '../../messages/message.ts';
import { string } from './chat-message.ts';

/** What an answer's metadata keeps for the server that gave it, because it wants it back with the next call. */
export type ProviderState = {
  readonly server: string;
  /** The reasoning itself is the message's `reasoning`; DeepSeek and Kimi want it back in the field it came in. */
  readonly reasoningField?: string;
  /** Signed or encrypted reasoning, as OpenRouter wants it back. */
  readonly reasoningDetails?: readonly JsonObject[];
  /** By position of the call: the signature of Gemini's thoughts. */
  readonly calls?: readonly (JsonObject | null)[];
};

/** Collects from deltas, or from the one message of a whole answer, what has to go back. */
export class ReasoningCollector {
  #field: string | null = null;
  readonly #details: Record<string, unknown>[] = [];

  read(message: Record<string, unknown>): void {
    if (string(message['reasoning_content']) !== '') this.#field = 'reasoning_content';
    const details = message['reasoning_details'];
    if (Array.isArray(details))
      for (const detail of details as unknown[]) if (isRecord(detail)) this.#add(detail);
  }

  /** Undefined when there is nothing to keep. Details count for calls alone: they are long, and only those need them. */
  metadata(
    server: string,
    calls: readonly (JsonObject | null)[] | null,
    hasCalls: boolean,
  ): JsonObject | undefined {
    const hasDetails = hasCalls && this.#details.length > 0;
    if (this.#field === null && !hasDetails && calls === null) return undefined;
    const kept: ProviderState = {
      server,
      ...(this.#field === null ? null : { reasoningField: this.#field }),
      ...(hasDetails ? { reasoningDetails: this.#details as JsonObject[] } : null), // from JSON
      ...(calls === null ? null : { calls }),
    };
    return { chat: kept };
  }

  /** Pieces of one text become one detail again. */
  #add(detail: Record<string, unknown>): void {
    const last = this.#details.at(-1);
    const isSame =
      last !== undefined &&
      detail['index'] !== undefined &&
      last['index'] === detail['index'] &&
      last['type'] === detail['type'];
    if (!isSame) {
      this.#details.push({ ...detail });
      return;
    }
    for (const [key, value] of Object.entries(detail))
      if (key === 'text' || key === 'summary') last[key] = string(last[key]) + string(value);
      else if (value !== null && key !== '__proto__') last[key] = value;
  }
}

/** What goes back with an assistant message, and with each of its calls. */
export interface ProviderFields {
  readonly message: JsonObject;
  readonly calls: readonly (JsonObject | null)[];
}

export function fieldsFor(server: string, message: Message): ProviderFields {
  const kept = message.metadata['chat'] as unknown as ProviderState | undefined; // written above
  if (kept?.server !== server) return nothingKept;
  const { reasoning } = message.metadata;
  const fields: Record<string, JsonValue> = {};
  if (kept.reasoningField && typeof reasoning === 'string') fields[kept.reasoningField] = reasoning;
  if (kept.reasoningDetails) fields['reasoning_details'] = kept.reasoningDetails;
  return { message: fields, calls: kept.calls ?? [] };
}

export const nothingKept: ProviderFields = { message: {}, calls: [] };
