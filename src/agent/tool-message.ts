import { Message } from '../messages/message.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { resultText, type ToolResult } from '../tools/tool-result.ts';

/** What the model reads of a call; where a person changed the arguments, it is told so. */
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
    // a result may say anything, also what only this library says: what became of the call is kept beside the text
    ...((isEdited || kind !== 'ok') && {
      metadata: { toolResult: isEdited ? { kind, editedArgs: call.args } : { kind } },
    }),
  });
}
