import { jsonText, type JsonObject, type JsonValue } from '../../json.ts';
import type { ContentPart } from '../../messages/content-part.ts';
import type { Message } from '../../messages/message.ts';
import type { InferenceRequest } from '../inference-driver.ts';
import { fieldsFor, nothingKept, type ProviderFields } from './provider-state.ts';
import { mediaTypeOf } from './media-type.ts';
import { wireIds, wireName } from './wire-ids.ts';

/** Names that differ between OpenAI itself and servers that speak its language. */
export interface ChatDialect {
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  readonly developerRole: 'developer' | 'system';
  /** The address, to know what was kept for it. */
  readonly server: string;
}

/** The conversation as the wire wants it. */
export function wireMessages(
  { messages }: InferenceRequest,
  system: string | null,
  dialect: ChatDialect,
): JsonValue[] {
  const wire: JsonValue[] = [];
  if (system) wire.push({ role: 'system', content: system });
  let ids: ReadonlyMap<string, string> = new Map();
  let turnHasCalls = false;
  for (const message of messages) {
    if (message.isUser()) turnHasCalls = false;
    if (message.toolCalls.length > 0) {
      ids = wireIds(message.toolCalls);
      turnHasCalls = true;
    }
    // an answer without a word is refused by some, and tells nothing
    else if (message.isAssistant() && message.content === '') continue;
    // what was kept is needed in a turn with calls alone, and refused by some elsewhere
    const kept = turnHasCalls ? fieldsFor(dialect.server, message) : nothingKept;
    wire.push(wireMessage(message, ids, kept, dialect));
  }
  return wire;
}

function wireMessage(
  message: Message,
  ids: ReadonlyMap<string, string>,
  kept: ProviderFields,
  { developerRole }: ChatDialect,
): JsonValue {
  const { role, content, toolCalls, toolCallId } = message;
  if (role === 'tool') {
    const id = toolCallId ?? '';
    return { role, tool_call_id: ids.get(id) ?? id, content: message.text };
  }
  if (role !== 'assistant')
    return {
      role: role === 'developer' ? developerRole : role,
      content: typeof content === 'string' ? content : content.map(wirePart),
    };
  if (toolCalls.length === 0) return { role, content: message.text, ...kept.message };
  return {
    role,
    content: message.text === '' ? null : message.text,
    tool_calls: toolCalls.map(({ id, name, args }, i) => ({
      id: ids.get(id) ?? id,
      type: 'function',
      function: { name: wireName(name), arguments: jsonText(args) ?? '{}' },
      ...(kept.calls[i] ? { extra_content: kept.calls[i] } : null),
    })),
    ...kept.message,
  };
}

function wirePart(part: ContentPart): JsonValue {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const mediaType = mediaTypeOf(part);
  const url = part.url ?? `data:${mediaType};base64,${part.data ?? ''}`;
  if (part.type === 'image' || mediaType.startsWith('image/'))
    return { type: 'image_url', image_url: { url } };
  if (mediaType.startsWith('audio/') && part.data !== undefined) {
    const format = mediaType === 'audio/mpeg' ? 'mp3' : mediaType.slice('audio/'.length);
    return { type: 'input_audio', input_audio: { data: part.data, format } };
  }
  return { type: 'file', file: { filename: part.filename ?? 'file', file_data: url } };
}

/** For servers that take no schema: the model is told, and the loop checks the answer all the same. */
export const schemaNote = (schema: JsonObject): string =>
  `Answer with one JSON value that follows this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`;
