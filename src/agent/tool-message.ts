import { Message } from '../messages/message.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { resultText, type ToolResult } from '../tools/tool-result.ts';

/** Creates the message with the result of a call, which also tells the model about edited arguments. */
export function toolMessage(
  call: ToolCall,
  { kind, value }: ToolResult,
  isEdited: boolean,
  createdAt: string,
): Message {
  const text = resultText(value);
  const content = isEdited
    ? `[A person changed the arguments to ${JSON.stringify(call.args)} before this ran.]\n${text}`
    : text;
  return Message.trusted({
    role: 'tool',
    content,
    toolCallId: call.id,
    name: call.name,
    createdAt,
    // the metadata keeps the kind of the result, because a tool may return the same texts as this library
    ...((isEdited || kind !== 'ok') && {
      metadata: { toolResult: isEdited ? { kind, editedArgs: call.args } : { kind } },
    }),
  });
}
