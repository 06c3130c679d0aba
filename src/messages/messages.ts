import { AppendOnly } from '../append-only.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { Message, type MessageInput, type MessageJSON } from './message.ts';
import type { MessageRole } from './message-role.ts';
import { pairingProblem } from './pairing.ts';

/** The conversation: an immutable list with O(1) append. */
export class Messages implements Iterable<Message> {
  readonly #list: AppendOnly<Message>;

  private constructor(list: AppendOnly<Message>) {
    this.#list = list;
    Object.freeze(this);
  }

  static empty(): Messages {
    return none;
  }

  static from(messages: Messages | Iterable<MessageInput>): Messages {
    if (messages instanceof Messages) return messages;
    if (typeof messages?.[Symbol.iterator] !== 'function' || typeof messages === 'string')
      throw new AgentError(
        'invalid_message',
        `Messages.from() got ${show(messages)}, expected a list of messages.`,
      );
    return new Messages(AppendOnly.of(Array.from(messages, Message.from)));
  }

  /** An object that conversations share of which one continues the other. */
  get lineage(): object {
    return this.#list.lineage;
  }

  get length(): number {
    return this.#list.length;
  }
  at(index: number): Message | undefined {
    return this.#list.at(index);
  }
  last(): Message | undefined {
    return this.#list.at(-1);
  }

  append(...messages: readonly MessageInput[]): Messages {
    if (messages.length === 0) return this;
    return new Messages(this.#list.append(...messages.map(Message.from)));
  }

  withRole(...roles: readonly MessageRole[]): Message[] {
    return this.#list.slice(0).filter((message) => message.hasRole(...roles));
  }
  slice(start: number, end?: number): Message[] {
    return this.#list.slice(start, end);
  }
  /** Returns why a provider would reject this conversation, such as a call without a result; null if it would not. */
  pairingProblem(): string | null {
    return pairingProblem(this);
  }
  [Symbol.iterator](): IterableIterator<Message> {
    return this.#list[Symbol.iterator]();
  }

  toJSON(): MessageJSON[] {
    return this.#list.slice(0).map((message) => message.toJSON());
  }
}

const none = Messages.from([]);
