import { isRaster, isVector } from '../../file-facts.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import {
  isBlank,
  spokenParts,
  type ContentPart,
  type MessageContent,
} from '../../messages/content-part.ts';
import type { Messages } from '../../messages/messages.ts';
import { leftOut, noVector, sourceOf } from '../../messages/media-type.ts';
import { assistantItems, type StateOrigin } from './responses-state.ts';
import { acceptedIds, wireIds } from './wire-ids.ts';

/** Names and state that differ between servers. */
export interface ResponsesDialect extends StateOrigin {
  readonly developerRole: 'developer' | 'system';
}

const accepted = acceptedIds('openai.responses');

/** Converts the conversation to input items. Blank texts are omitted, because providers reject them. */
export function inputItems(messages: Messages, dialect: ResponsesDialect): JsonObject[] {
  const items: JsonObject[] = [];
  let ids: ReadonlyMap<string, string> = new Map();
  /** Ids of calls whose results have their own type. */
  const customIds = new Set<unknown>();
  const last = messages.last();
  for (const message of messages) {
    const { role, content, toolCalls, toolCallId } = message;
    if (role === 'tool') {
      const id = toolCallId ?? '';
      const call_id = ids.get(id) ?? id;
      const type = customIds.has(call_id) ? 'custom_tool_call_output' : 'function_call_output';
      items.push({ type, call_id, output: wireContent(content, resultPart) });
    } else if (role === 'assistant') {
      if (toolCalls.length > 0) ids = wireIds(toolCalls, accepted);
      const own = assistantItems(message, ids, dialect);
      for (const { type, call_id } of own) if (type === 'custom_tool_call') customIds.add(call_id);
      items.push(...own);
    }
    // a provider rejects the last one, and the next turn omits it
    else if (!isBlank(content) || message === last)
      items.push({
        role: role === 'developer' ? dialect.developerRole : role,
        content: wireContent(content),
      });
  }
  return items;
}

const wireContent = (content: MessageContent, toWire: typeof wirePart = wirePart): JsonValue =>
  typeof content === 'string' ? content : spokenParts(content).map((part) => toWire(part));

/** A part of a result. An image that the API does not read, and sound, would fail this request and every later one. */
function resultPart(part: ContentPart): JsonObject {
  if (part.type === 'text') return wirePart(part);
  const { mediaType, url } = sourceOf(part);
  const isImage = part.type === 'image' || mediaType.startsWith('image/');
  const isSent = isImage
    ? isRaster(mediaType) || (url !== undefined && mediaType === 'image/*')
    : !/^(?:audio|video)\//.test(mediaType);
  return isSent
    ? wirePart(part)
    : { type: 'input_text', text: leftOut(part, 'this API accepts no such part in a tool result') };
}

function wirePart(part: ContentPart): JsonObject {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  const { data, url, mediaType } = sourceOf(part);
  const address = url ?? `data:${mediaType};base64,${data ?? ''}`;
  if (isVector(mediaType)) return { type: 'input_text', text: leftOut(part, noVector) };
  if (part.type === 'image' || mediaType.startsWith('image/'))
    return { type: 'input_image', image_url: address };
  if (mediaType.startsWith('audio/') && data !== undefined) {
    const format = mediaType === 'audio/mpeg' ? 'mp3' : mediaType.slice('audio/'.length);
    return { type: 'input_audio', input_audio: { data, format } };
  }
  // the provider fetches the file, and accepts no name next to a URL
  if (url !== undefined) return { type: 'input_file', file_url: url };
  return { type: 'input_file', filename: part.filename ?? 'file', file_data: address };
}
