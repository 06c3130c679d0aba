import { isVector } from '../../file-facts.ts';
import { jsonText, type JsonObject, type JsonValue } from '../../json.ts';
import {
  isBlank,
  spokenParts,
  type ContentPart,
  type MessageContent,
} from '../../messages/content-part.ts';
import type { Message } from '../../messages/message.ts';
import { sentCall } from '../../messages/tool-call.ts';
import type { InferenceRequest } from '../inference-driver.ts';
import { SYSTEM, type CacheMarks, type MarkWire } from './cache-marks.ts';
import { withMark } from './chat-marks.ts';
import { fieldsFor, type ProviderFields } from './provider-state.ts';
import { leftOut, noVector, sourceOf } from '../../messages/media-type.ts';
import { acceptedIds, wireIds, wireName } from './wire-ids.ts';

/** Names that differ between OpenAI and compatible servers. */
export interface ChatDialect {
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  readonly developerRole: 'developer' | 'system';
  /** The server's URL, to find state that was stored for it. */
  readonly server: string;
  /** Family of the model, which alone reads signed state. */
  readonly model?: string;
  /** Where the server accepts cache marks; absent or null if it accepts none. */
  readonly marks?: MarkWire | null;
}

/** Converts the conversation to the format of the wire. */
export function wireMessages(
  { messages }: InferenceRequest,
  system: string | null,
  dialect: ChatDialect,
  marks: CacheMarks,
): JsonValue[] {
  const wire: JsonValue[] = [];
  const marked = (message: JsonObject, place: number): JsonObject =>
    withMark(message, marks.get(place), dialect.marks?.isAuto === true);
  if (system && !isBlank(system)) wire.push(marked({ role: 'system', content: system }, SYSTEM));
  const accepted = acceptedIds(providerOf(dialect.server), dialect.model);
  let ids: ReadonlyMap<string, string> = new Map();
  let turnHasCalls = false;
  const last = messages.last();
  let place = SYSTEM;
  for (const message of messages) {
    place++;
    // a provider rejects the last one, and the next turn omits it
    if (isBlank(message.content) && !isAnswer(message) && message !== last) continue;
    if (message.isUser()) turnHasCalls = false;
    if (message.toolCalls.length > 0) {
      ids = wireIds(message.toolCalls, accepted);
      turnHasCalls = true;
    }
    // omitted, because some servers reject an empty answer
    else if (message.isAssistant() && isBlank(message.content)) continue;
    const kept = fieldsFor(dialect.server, message, turnHasCalls, dialect.model);
    wire.push(marked(wireMessage(message, ids, kept, dialect), place));
  }
  return wire;
}

/** Returns the provider of a server by its host, in the words of the AI SDK. */
const providerOf = (server: string): string =>
  /^https:\/\/(?:[\w-]+\.)*(?:openai|azure)\.com[/:]/.test(`${server}/`)
    ? 'openai.chat'
    : /^https:\/\/(?:[\w-]+\.)*mistral\.ai[/:]/.test(`${server}/`)
      ? 'mistral'
      : '';

const isAnswer = (message: Message): boolean => message.isTool() || message.isAssistant();

function wireMessage(
  message: Message,
  ids: ReadonlyMap<string, string>,
  kept: ProviderFields,
  { developerRole, server, model }: ChatDialect,
): JsonObject {
  const { role, content, toolCalls, toolCallId } = message;
  if (role === 'tool') {
    const id = toolCallId ?? '';
    return { role, tool_call_id: ids.get(id) ?? id, content: textWithNotes(content, '\n') };
  }
  if (role !== 'assistant')
    return {
      role: role === 'developer' ? developerRole : role,
      content:
        typeof content === 'string'
          ? content
          : spokenParts(content).map((part) => wirePart(part, server)),
    };
  const text = textWithNotes(content, '');
  if (toolCalls.length === 0) return { role, content: text, ...kept.message };
  const isForeign = needsSignature(server, model) && kept.calls.length === 0;
  const unsigned = isForeign ? { extra_content: noSignature } : null;
  return {
    role,
    content: isBlank(text) ? null : text,
    tool_calls: toolCalls.map((call, i) => {
      const { id } = call;
      const { name, args } = sentCall(call);
      return {
        id: ids.get(id) ?? id,
        ...(kept.custom.includes(i) && typeof args['input'] === 'string'
          ? { type: 'custom', custom: { name: wireName(name), input: args['input'] } }
          : {
              type: 'function',
              function: { name: wireName(name), arguments: jsonText(args) ?? '{}' },
            }),
        ...(kept.calls[i] ? { extra_content: kept.calls[i] } : i === 0 ? unsigned : null),
      };
    }),
    ...kept.message,
  };
}

/** Returns the text of an answer or a result, with a note for each part that this API accepts only from users. */
function textWithNotes(content: MessageContent, between: string): string {
  if (typeof content === 'string') return content;
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const notes = content.flatMap((part) =>
    part.type === 'text' ? [] : [leftOut(part, 'this API accepts only text here')],
  );
  return [texts.join(between), ...notes].filter((text) => text !== '').join('\n');
}

function wirePart(part: ContentPart, server: string): JsonValue {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { data, url: address, mediaType } = sourceOf(part);
  const url = address ?? `data:${mediaType};base64,${data ?? ''}`;
  if (isVector(mediaType)) return { type: 'text', text: leftOut(part, noVector) };
  if (part.type === 'image' || mediaType.startsWith('image/'))
    return { type: 'image_url', image_url: { url } };
  if (mediaType.startsWith('audio/') && data !== undefined) {
    const format = mediaType === 'audio/mpeg' ? 'mp3' : mediaType.slice('audio/'.length);
    return { type: 'input_audio', input_audio: { data, format } };
  }
  if (data === undefined && !takesFileAddress.test(server))
    return { type: 'text', text: leftOut(part, 'this API accepts a file only as data') };
  return { type: 'file', file: { filename: part.filename ?? 'file', file_data: url } };
}

/** Whether the model rejects calls without a signature, which calls of other models do not have. */
const needsSignature = (server: string, model: string = ''): boolean =>
  /^https:\/\/[\w.-]+\.googleapis\.com\//.test(server) &&
  /^(?:\w+\/)?gemini-(?:[3-9]|\d\d)/.test(model);

/** The value that Google documents for calls that another model made. */
const noSignature: JsonObject = {
  google: { thought_signature: 'skip_thought_signature_validator' },
};

/** Servers that fetch a file by its address; the others answer 400. */
const takesFileAddress = /^https:\/\/openrouter\.ai\//;
