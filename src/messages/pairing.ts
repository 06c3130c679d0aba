import type { Message } from './message.ts';

/**
 * Returns why a provider would reject this conversation, or null: every tool call must have one result, right after its
 * message and before any other message.
 */
export function pairingProblem(messages: Iterable<Message>): string | null {
  const open = new Set<string>();
  for (const message of messages) {
    if (message.isTool()) {
      const id = message.toolCallId ?? '';
      if (!open.delete(id)) return `tool message ${message.id} answers no open call (${id})`;
      continue;
    }
    if (open.size > 0)
      return `${message.role} message ${message.id} comes while ${[...open].join(', ')} is unanswered`;
    for (const call of message.toolCalls) {
      if (open.has(call.id)) return `call id ${call.id} is used twice in message ${message.id}`;
      open.add(call.id);
    }
  }
  return open.size > 0 ? `${[...open].join(', ')} is unanswered at the end` : null;
}
