import { isRecord } from '../json.ts';
import type { Message } from '../messages/message.ts';
import { Messages } from '../messages/messages.ts';
import type { AgentState } from './agent-state.ts';

/** What is known of a conversation, by its first message: only what was added since is read. */
interface Known {
  readonly length: number;
  readonly last: Message;
  readonly blocked: ReadonlySet<string>;
  readonly view: ConversationView;
  readonly sent: Messages;
}
const known = new WeakMap<Message, Known>();

/** How messages are sent. It shows each message the same way each time, whatever follows. */
export interface ConversationView {
  /** Messages in place of those before `from`. */
  readonly head: (messages: Messages, blocked: ReadonlySet<string>) => readonly Message[];
  readonly from: number;
  readonly shown: (message: Message, position: number) => Message;
}

const wholeView: ConversationView = { head: () => [], from: 0, shown: (message) => message };

/** Returns the conversation without the messages that a guard has blocked; unchanged if there are none. */
export function sentMessages(messages: Messages, view: ConversationView = wholeView): Messages {
  const first = messages.at(0);
  const last = messages.last();
  if (!first || !last) return messages;
  const before = known.get(first);
  const isLonger =
    before?.view === view &&
    before.length > view.from &&
    before.length <= messages.length &&
    messages.at(before.length - 1) === before.last;
  const start = isLonger ? before.length : 0;
  const added = messages.slice(start);
  const found = added.flatMap((message) => blockedBy(message));
  const blocked = isLonger ? new Set([...before.blocked, ...found]) : new Set(found);
  let sent = messages;
  if (blocked.size > 0 || view !== wholeView) {
    const shownFrom = (from: number, all: readonly Message[]): readonly Message[] =>
      all.flatMap((message, i) =>
        isSent(message, blocked) ? [view.shown(message, from + i)] : [],
      );
    sent =
      isLonger && found.length === 0
        ? before.sent.append(...shownFrom(start, added))
        : Messages.from([
            ...view.head(messages, blocked),
            ...shownFrom(view.from, messages.slice(view.from)),
          ]);
  }
  known.set(first, { length: messages.length, last, blocked, view, sent });
  return sent;
}

/** Whether a message is sent: it is neither blocked nor the mark that blocks others. */
export const isSent = (message: Message, blocked: ReadonlySet<string>): boolean =>
  !blocked.has(message.id) && blockedBy(message).length === 0;

/** Ids of the messages that a mark of a guard leaves out. */
export function blockedBy({ role, metadata }: Message): readonly string[] {
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

export const isFromUser = (message: Message | undefined): boolean =>
  message?.isUser() === true && message.metadata['synthetic'] !== true;
