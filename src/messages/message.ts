import { isoTime, systemClock } from '../clock.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { messageId } from '../ids.ts';
import { isRecord, type JsonObject } from '../json.ts';
import { CACHE_MARKS, isCacheMark, ttlOf, type CacheMark, type CacheTtl } from './cache-mark.ts';
import { isPart, textOf, type MessageContent } from './content-part.ts';
import { MessageRole, messageRoles } from './message-role.ts';
import type { ToolCall } from './tool-call.ts';

export interface MessageJSON {
  readonly id: string;
  readonly role: MessageRole;
  readonly content: MessageContent;
  readonly toolCalls: readonly ToolCall[];
  /** Id of the answered call, on a `tool` message. */
  readonly toolCallId: string | null;
  readonly name: string | null;
  readonly metadata: JsonObject;
  readonly createdAt: string;
}

/** Input of a message: only role and content are required. */
export type MessageInput = Pick<MessageJSON, 'role' | 'content'> &
  Partial<MessageJSON> & {
    /** Cache mark at the end of the message. Stored in its metadata. */
    readonly cache?: CacheMark;
  };

const noCalls: readonly ToolCall[] = Object.freeze([]);
const noMetadata: JsonObject = Object.freeze({});

/** One message of the conversation. Frozen; its own fields are exactly its JSON. */
export class Message implements MessageJSON {
  readonly id: string;
  readonly role: MessageRole;
  readonly content: MessageContent;
  readonly toolCalls: readonly ToolCall[];
  readonly toolCallId: string | null;
  readonly name: string | null;
  readonly metadata: JsonObject;
  readonly createdAt: string;

  private constructor(input: MessageInput) {
    this.id = input.id ?? messageId();
    this.role = input.role;
    this.content = input.content;
    this.toolCalls = input.toolCalls?.length ? input.toolCalls : noCalls;
    this.toolCallId = input.toolCallId ?? null;
    this.name = input.name ?? null;
    this.metadata = withMark(input.metadata ?? noMetadata, input.cache);
    this.createdAt = input.createdAt ?? isoTime(systemClock.now());
    Object.freeze(this);
  }

  /** Accepts a message or its JSON; throws for anything else. */
  static from(input: MessageInput): Message {
    if (input instanceof Message) return input;
    checkMessage(input);
    const { toolCalls } = input;
    return new Message(
      toolCalls?.length ? { ...input, toolCalls: Object.freeze([...toolCalls]) } : input,
    );
  }

  /** Creates a message without checks, for code of this library that made the fields. */
  static trusted(input: MessageInput): Message {
    return new Message(input);
  }

  static user(content: MessageContent, more?: Partial<MessageInput>): Message {
    return Message.#of(MessageRole.User, content, more);
  }
  static assistant(content: MessageContent, more?: Partial<MessageInput>): Message {
    return Message.#of(MessageRole.Assistant, content, more);
  }
  static system(content: MessageContent, more?: Partial<MessageInput>): Message {
    return Message.#of(MessageRole.System, content, more);
  }
  static developer(content: MessageContent, more?: Partial<MessageInput>): Message {
    return Message.#of(MessageRole.Developer, content, more);
  }
  static tool(toolCallId: string, content: MessageContent, more?: Partial<MessageInput>): Message {
    return Message.from({ ...more, role: MessageRole.Tool, content, toolCallId });
  }

  /** Creates a message; a plain text needs no check. */
  static #of(role: MessageRole, content: MessageContent, more?: Partial<MessageInput>): Message {
    return more === undefined && typeof content === 'string'
      ? new Message({ role, content })
      : Message.from({ ...more, role, content });
  }

  isUser(): boolean {
    return this.role === MessageRole.User;
  }
  isAssistant(): boolean {
    return this.role === MessageRole.Assistant;
  }
  isTool(): boolean {
    return this.role === MessageRole.Tool;
  }
  /** Whether the role is system or developer: both instruct the model. */
  isSystem(): boolean {
    return this.role === MessageRole.System || this.role === MessageRole.Developer;
  }
  isDeveloper(): boolean {
    return this.role === MessageRole.Developer;
  }
  hasRole(...roles: readonly MessageRole[]): boolean {
    return roles.includes(this.role);
  }

  /** The text of the content, without images and files. */
  get text(): string {
    return textOf(this.content);
  }

  /** The model's reasoning, as the provider sent it; null if there is none. Never sent as content. */
  get reasoning(): string | null {
    const { reasoning } = this.metadata;
    return this.isAssistant() && typeof reasoning === 'string' && reasoning !== ''
      ? reasoning
      : null;
  }

  /** How long the cache mark at the end of the message lasts; false if there is none. */
  get cache(): CacheTtl | false {
    return ttlOf(this.metadata['cache']);
  }

  toJSON(): MessageJSON {
    return { ...this };
  }
}

/** Returns the metadata with the mark of an input; unchanged if it says none. */
function withMark(metadata: JsonObject, mark: CacheMark | undefined): JsonObject {
  if (mark === undefined || ttlOf(mark) === ttlOf(metadata['cache'])) return metadata;
  const { cache: _, ...rest } = metadata;
  const ttl = ttlOf(mark);
  return ttl === false ? rest : { ...rest, cache: ttl };
}

function checkMessage(input: unknown): asserts input is MessageInput {
  if (!isRecord(input))
    throw invalidMessage(`it is ${show(input)}`, 'an object with role and content');
  const { role, content, toolCalls, toolCallId } = input;
  if (!messageRoles.includes(role as MessageRole))
    throw invalidMessage(`its role is ${show(role)}`, `one of ${messageRoles.join(', ')}`);
  if (typeof content !== 'string' && !(Array.isArray(content) && content.every(isPart)))
    throw invalidMessage(`its content is ${show(content)}`, 'a string or a list of content parts');
  if (toolCalls !== undefined && !(Array.isArray(toolCalls) && toolCalls.every(isCall)))
    throw invalidMessage(`its toolCalls is ${show(toolCalls)}`, 'a list of { id, name, args }');
  if (role === MessageRole.Tool && typeof toolCallId !== 'string')
    throw invalidMessage(`its toolCallId is ${show(toolCallId)}`, 'the id of the call it answers');
  for (const key of ['id', 'toolCallId', 'name', 'createdAt'])
    if (input[key] != null && typeof input[key] !== 'string')
      throw invalidMessage(`its ${key} is ${show(input[key])}`, 'a string');
  if (input['metadata'] != null && !isRecord(input['metadata']))
    throw invalidMessage(`its metadata is ${show(input['metadata'])}`, 'an object');
  if (input['cache'] !== undefined && !isCacheMark(input['cache']))
    throw invalidMessage(`its cache is ${show(input['cache'])}`, CACHE_MARKS);
}

const isCall = (call: unknown): boolean =>
  isRecord(call) &&
  typeof call['id'] === 'string' &&
  typeof call['name'] === 'string' &&
  isRecord(call['args']);

const invalidMessage = (seen: string, expected: string): AgentError =>
  new AgentError('invalid_message', `This is not a message: ${seen}, expected ${expected}.`);
