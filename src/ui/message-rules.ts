import type { UiMessage } from './ui-message.ts';
import { valueOf } from './tool-results.ts';

export const isToolCallMessage = ({ role, metadata }: UiMessage): boolean =>
  role === 'assistant' && (metadata.tool_calls?.length ?? 0) > 0;

export const isToolResultMessage = ({ role }: UiMessage): boolean => role === 'tool';

export const hasToolError = ({ metadata }: UiMessage): boolean => metadata.tool_error !== undefined;

/**
 * Whether to show the text of an assistant message. Next to tool calls only natural language is shown, because models
 * also write call arguments there. Without calls the content is the answer, whatever its form.
 */
export function shouldRenderAssistantContent(message: UiMessage): boolean {
  const { content } = message;
  if (content.trim() === '') return false;
  return !isToolCallMessage(message) || typeof valueOf(content) === 'string';
}
