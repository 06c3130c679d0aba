import { jsonText } from '../json.ts';
import type { Message } from '../messages/message.ts';
import type { Messages } from '../messages/messages.ts';
import type { ToolSchema } from '../tools/tool.ts';
import type { InferenceRequest } from './inference-driver.ts';

/** Characters of a token, as a rule of thumb for English. */
const CHARACTERS = 4;
/** Tokens of an image or a file, whatever its size. */
const PART_TOKENS = 1_000;
/** Tokens around each message. */
const FRAME_TOKENS = 4;

/** What is known of a conversation, by its first message: only what was added since is read. */
const counted = new WeakMap<Message, { length: number; last: Message; tokens: number }>();
const schemas = new WeakMap<readonly ToolSchema[], number>();

/** Estimates the tokens of a request before it is sent: a token per 4 characters, 1,000 per image or file. */
export function estimateTokens({
  system,
  messages,
  tools,
  responseFormat,
}: InferenceRequest): number {
  const format = responseFormat ? lengthOf(responseFormat.schema) : 0;
  const around = ((system?.length ?? 0) + format) / CHARACTERS;
  return Math.ceil(around + toolTokens(tools) + conversationTokens(messages));
}

function conversationTokens(messages: Messages): number {
  const first = messages.at(0);
  if (!first) return 0;
  const known = counted.get(first);
  const isLonger =
    known && known.length <= messages.length && messages.at(known.length - 1) === known.last;
  let tokens = isLonger ? known.tokens : 0;
  let last = isLonger ? known.last : first;
  for (let i = isLonger ? known.length : 0; i < messages.length; i++) {
    last = messages.at(i) ?? last;
    tokens += messageTokens(last);
  }
  counted.set(first, { length: messages.length, last, tokens });
  return tokens;
}

function messageTokens({ content, toolCalls }: Message): number {
  let characters = 0;
  let parts = 0;
  if (typeof content === 'string') characters = content.length;
  else
    for (const part of content)
      if (part.type === 'text') characters += part.text.length;
      else parts += 1;
  for (const { name, args } of toolCalls) characters += name.length + lengthOf(args);
  return FRAME_TOKENS + characters / CHARACTERS + parts * PART_TOKENS;
}

function toolTokens(tools: readonly ToolSchema[]): number {
  if (tools.length === 0) return 0;
  let tokens = schemas.get(tools);
  if (tokens === undefined) schemas.set(tools, (tokens = lengthOf(tools) / CHARACTERS));
  return tokens;
}

const lengthOf = (value: unknown): number => jsonText(value)?.length ?? 0;
