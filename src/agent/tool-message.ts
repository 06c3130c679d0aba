import type { MessageContent } from '../messages/content-part.ts';
import { Message } from '../messages/message.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { resultText, withoutParts, type ToolResult } from '../tools/tool-result.ts';
import type { StepDraft } from './step-draft.ts';

/** Adds the tool messages of a step, in call order. */
export function addToolMessages(draft: StepDraft, createdAt: string): void {
  const { calls, results, notes } = draft;
  for (let i = 0; i < calls.length; i++) {
    const call = calls[i];
    const result = results[i];
    if (!call || !result) continue;
    const isEdited = notes.length > 0 && notes.includes(`argsEdited:${call.id}`);
    draft.addMessage(toolMessage(call, result, isEdited, createdAt));
    if (result.content) results[i] = withoutParts(result);
  }
}

/** Creates the message with the result of a call, with a note about edited arguments. */
function toolMessage(
  call: ToolCall,
  { kind, value, content: parts }: ToolResult,
  isEdited: boolean,
  createdAt: string,
): Message {
  const given = parts ?? resultText(value);
  const content = isEdited ? withNote(editNote(call), given) : given;
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

const editNote = ({ args }: ToolCall): string =>
  `[A person changed the arguments to ${JSON.stringify(args)} before this ran.]`;

const withNote = (note: string, content: MessageContent): MessageContent =>
  typeof content === 'string' ? `${note}\n${content}` : [{ type: 'text', text: note }, ...content];
