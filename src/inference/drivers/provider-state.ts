import { isRecord, type JsonObject, type JsonValue } from '../../json.ts';
import type { Message } from '../../messages/message.ts';
import { string } from './chat-message.ts';
import type { ToolCallAssembler } from './tool-call-assembler.ts';

/** State in an answer's metadata that its server expects back with the next call. */
export type ProviderState = {
  readonly server: string;
  /** Family of the model that signed the rest; absent in records of earlier releases. */
  readonly model?: string;
  /** Field of the reasoning, whose text is the message's `reasoning`; DeepSeek and Kimi expect it in the same field. */
  readonly reasoningField?: string;
  /** Signed or encrypted reasoning, as OpenRouter expects it. */
  readonly reasoningDetails?: readonly JsonObject[];
  /** Signatures of Gemini's thoughts, by position of the call. */
  readonly calls?: readonly (JsonObject | null)[];
  /** Positions of calls of custom tools, whose input is a text. */
  readonly custom?: readonly number[];
  /** Signature of the answer itself, in the fields in which it came. */
  readonly signature?: JsonObject;
};

/**
 * Whether a message or a delta has a field other than its reasoning that a server expects back. Called for every delta:
 * engines read a field by a constant name several times faster.
 */
export const hasState = (message: Readonly<Record<string, unknown>>): boolean =>
  message['reasoning_details'] !== undefined ||
  message['extra_content'] !== undefined ||
  message['thought_signature'] !== undefined ||
  message['provider_specific_fields'] !== undefined;

/** Collects state from deltas, or from the message of a whole answer. */
export class ReasoningCollector {
  #field: string | null = null;
  readonly #details: Record<string, unknown>[] = [];
  #signature: Record<string, JsonValue> | null = null;

  read(message: Record<string, unknown>): void {
    if (string(message['reasoning_content']) !== '') this.#field = 'reasoning_content';
    const details = message['reasoning_details'];
    if (Array.isArray(details))
      for (const detail of details as unknown[]) if (isRecord(detail)) this.#add(detail);
    for (const key of signatureKeys) {
      const value = message[key];
      if (hasSignature(key, value)) (this.#signature ??= {})[key] = value as JsonValue; // from JSON
    }
  }

  /**
   * Returns the metadata; undefined if there is none. Details are kept only with calls: they are long, and only calls
   * need them.
   */
  metadata(
    server: string,
    calls: ToolCallAssembler,
    hasCalls: boolean,
    model?: string,
  ): JsonObject | undefined {
    const kept: Omit<ProviderState, 'server'> = {
      ...(this.#field === null ? null : { reasoningField: this.#field }),
      ...(hasCalls && this.#details.length > 0
        ? { reasoningDetails: this.#details as JsonObject[] } // from JSON
        : null),
      ...calls.state(),
      ...(this.#signature && { signature: this.#signature }),
    };
    return Object.keys(kept).length > 0
      ? { chat: { server, ...(model !== undefined && { model }), ...kept } }
      : undefined;
  }

  /** Joins the parts of one detail. */
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

const signatureKeys = ['extra_content', 'thought_signature', 'provider_specific_fields'] as const;

/** Whether a field has a signature: Gemini's own, and that of LiteLLM among other data. */
function hasSignature(key: (typeof signatureKeys)[number], value: unknown): boolean {
  if (key === 'thought_signature') return string(value) !== '';
  if (!isRecord(value)) return false;
  return key === 'extra_content' || Array.isArray(value['thought_signatures']);
}

/** The state to send with an assistant message, and with each of its calls. */
export interface ProviderFields {
  readonly message: JsonObject;
  readonly calls: readonly (JsonObject | null)[];
  readonly custom: readonly number[];
}

/**
 * Returns the state that a server expects. Reasoning is required only in a turn with calls, and rejected elsewhere. What
 * a model signed goes back only to models of its family.
 */
export function fieldsFor(
  server: string,
  message: Message,
  turnHasCalls: boolean = true,
  model?: string,
): ProviderFields {
  const kept = message.metadata['chat'] as unknown as ProviderState | undefined; // written above
  if (kept?.server !== server) return nothingKept;
  const { reasoning } = message.metadata;
  const isOwn = kept.model === undefined || kept.model === model;
  const fields: Record<string, JsonValue> = isOwn ? { ...kept.signature } : {};
  if (!turnHasCalls) return { ...nothingKept, message: fields };
  if (kept.reasoningField && typeof reasoning === 'string') fields[kept.reasoningField] = reasoning;
  if (isOwn && kept.reasoningDetails) fields['reasoning_details'] = kept.reasoningDetails;
  return { message: fields, calls: (isOwn && kept.calls) || [], custom: kept.custom ?? [] };
}

const nothingKept: ProviderFields = { message: {}, calls: [], custom: [] };
