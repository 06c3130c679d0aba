import { jsonText } from '../json.ts';
import type { Message } from '../messages/message.ts';
import type { Messages } from '../messages/messages.ts';
import type { ToolSchema } from '../tools/tool.ts';
import type { InferenceRequest } from './inference-driver.ts';

/** Tokens of a character, as a rule of thumb: of ASCII, of other alphabets, of scripts without one such as Chinese. */
const ASCII_TOKENS = 0.25;
const ALPHABET_TOKENS = 0.5;
const SIGN_TOKENS = 1;
/** First character of the scripts without an alphabet. */
const FIRST_SIGN = 0x2e80;
const BEYOND_ASCII = /[\u0080-\uffff]/;
/** Tokens of an image or a file, whatever its size. */
const PART_TOKENS = 1_000;
/** Tokens around each message. */
const FRAME_TOKENS = 4;

/** What is known of a conversation and those that continue it: only what was added since is read. */
const counted = new WeakMap<object, { readonly length: number; readonly tokens: number }>();
/** Tokens of messages, which other conversations may share. */
const ofMessages = new WeakMap<Message, number>();
const schemas = new WeakMap<readonly ToolSchema[], number>();

/**
 * Estimates the tokens of a request before it is sent: a token per 4 characters of English, more of other scripts, 1,000
 * per image or file.
 */
export function estimateTokens({
  system,
  messages,
  tools,
  responseFormat,
}: InferenceRequest): number {
  const format = responseFormat ? jsonTokens(responseFormat.schema) : 0;
  const around = textTokens(system ?? '') + format;
  return Math.ceil(around + toolTokens(tools) + conversationTokens(messages));
}

/** Estimates the tokens of messages. */
export function conversationTokens(messages: Messages): number {
  const known = counted.get(messages.lineage);
  const isLonger = known !== undefined && known.length <= messages.length;
  let tokens = isLonger ? known.tokens : 0;
  for (let i = isLonger ? known.length : 0; i < messages.length; i++) {
    const message = messages.at(i);
    if (message) tokens += knownTokens(message);
  }
  counted.set(messages.lineage, { length: messages.length, tokens });
  return tokens;
}

function knownTokens(message: Message): number {
  let tokens = ofMessages.get(message);
  if (tokens === undefined) ofMessages.set(message, (tokens = messageTokens(message)));
  return tokens;
}

/** Estimates the tokens of one message. */
export function messageTokens({
  content,
  toolCalls,
}: Pick<Message, 'content' | 'toolCalls'>): number {
  let tokens = FRAME_TOKENS;
  if (typeof content === 'string') tokens += textTokens(content);
  else
    for (const part of content)
      tokens += part.type === 'text' ? textTokens(part.text) : PART_TOKENS;
  for (const { name, args } of toolCalls) tokens += textTokens(name) + jsonTokens(args);
  return tokens;
}

/** Estimates the tokens of a text. */
export function textTokens(text: string): number {
  if (!BEYOND_ASCII.test(text)) return text.length * ASCII_TOKENS;
  let tokens = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    tokens += code < 0x80 ? ASCII_TOKENS : code < FIRST_SIGN ? ALPHABET_TOKENS : SIGN_TOKENS;
  }
  return tokens;
}

function toolTokens(tools: readonly ToolSchema[]): number {
  if (tools.length === 0) return 0;
  let tokens = schemas.get(tools);
  if (tokens === undefined) schemas.set(tools, (tokens = jsonTokens(tools)));
  return tokens;
}

const jsonTokens = (value: unknown): number => textTokens(jsonText(value) ?? '');
