import { describedText } from '../file-facts.ts';
import type { FilePart, ImagePart } from '../messages/content-part.ts';
import { textOf } from '../messages/content-part.ts';
import type { MessageJSON } from '../messages/message.ts';
import { reasoningOf } from '../reasoning-text.ts';
import type { AgUiMessage, AgUiPart } from './ag-ui-event.ts';

/** Converts a stored conversation to messages of an AG-UI client. */
export function snapshotOf(
  history: readonly MessageJSON[],
  includeReasoning: boolean,
): readonly AgUiMessage[] {
  const messages: AgUiMessage[] = [];
  /** The message whose calls the results answer: ids of calls repeat in later executions. */
  let caller: MessageJSON | null = null;
  const wireId = ({ id }: MessageJSON, callId: string): string => `${id}:${callId}`;
  for (const message of history) {
    const { id, role, content, toolCalls, toolCallId, metadata } = message;
    if (role === 'user' && metadata['synthetic'] !== true)
      messages.push({ id, role, content: userContent(message) });
    if (role === 'tool' && caller?.toolCalls.some((call) => call.id === toolCallId))
      messages.push({
        id,
        role,
        toolCallId: wireId(caller, toolCallId ?? ''),
        content: describedText(content),
      });
    if (role !== 'assistant') continue;
    caller = message;
    const reasoning = includeReasoning ? reasoningOf(message) : null;
    if (reasoning !== null)
      messages.push({ id: `${id}-reasoning`, role: 'reasoning', content: reasoning });
    const text = textOf(content);
    messages.push({
      id,
      role,
      ...(text !== '' && { content: text }),
      ...(toolCalls.length > 0 && {
        toolCalls: toolCalls.map((call) => ({
          id: wireId(message, call.id),
          type: 'function' as const,
          function: { name: call.name, arguments: JSON.stringify(call.args) },
        })),
      }),
    });
  }
  return messages;
}

const userContent = ({ content }: MessageJSON): string | readonly AgUiPart[] =>
  typeof content === 'string'
    ? content
    : content.map((part) =>
        part.type === 'text' ? { type: 'text', text: part.text } : fileOf(part),
      );

function fileOf({ type, url, data, mediaType }: ImagePart | FilePart): AgUiPart {
  const mimeType = mediaType ?? 'application/octet-stream';
  return {
    type: type === 'image' ? 'image' : 'document',
    source:
      url === undefined
        ? { type: 'data', value: data ?? '', mimeType }
        : { type: 'url', value: url, ...(mediaType !== undefined && { mimeType }) },
  };
}
