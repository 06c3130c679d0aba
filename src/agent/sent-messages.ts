import { isRecord } from '../json.ts';
import type { Message } from '../messages/message.ts';
import { Messages } from '../messages/messages.ts';
import type { AgentState } from './agent-state.ts';

/** What is known of a conversation, by its first message: only what was added since is read. */
interface Known {
  readonly length: number;
  readonly last: Message;
  readonly blocked: ReadonlySet<string>;
  readonly sent: Messages;
}
const known = new WeakMap<Message, Known>();

/** Returns the conversation without the messages that a guard has blocked; unchanged if there are none. */
export function sentMessages(messages: Messages): Messages {
  const first = messages.at(0);
  const last = messages.last();
  if (!first || !last) return messages;
  const before = known.get(first);
  const isLonger =
    before && before.length <= messages.length && messages.at(before.length - 1) === before.last;
  const added = messages.slice(isLonger ? before.length : 0);
  const found = added.flatMap((message) => blockedBy(message));
  const blocked = isLonger ? new Set([...before.blocked, ...found]) : new Set(found);
  let sent = messages;
  if (blocked.size > 0) {
    const isSent = (message: Message): boolean =>
      !blocked.has(message.id) && blockedBy(message).length === 0;
    sent =
      isLonger && found.length === 0
        ? before.sent.append(...added.filter(isSent))
        : Messages.from([...messages].filter(isSent));
  }
  known.set(first, { length: messages.length, last, blocked, sent });
  return sent;
}

/** Ids of the messages that a mark of a guard leaves out. */
function blockedBy({ role, metadata }: Message): readonly string[] {
  const { guard } = metadata;
  if (role !== 'assistant' || !isRecord(guard) || !Array.isArray(guard['blocked'])) return [];
  return guard['blocked'] as readonly string[]; // written by the loop
}

/** The user messages that an execution answers: all at the end of the conversation when it started. */
export function unblockedInput({ messages, execution }: AgentState): readonly Message[] {
  const end = execution.firstMessage + 1;
  let first = end;
  while (first > 0 && isFromUser(messages.at(first - 1))) first -= 1;
  return messages.slice(first, end);
}

const isFromUser = (message: Message | undefined): boolean =>
  message?.isUser() === true && message.metadata['synthetic'] !== true;
