import { isRecord, parseJson } from '../../json.ts';
import type { ContentPart, MessageContent } from '../../messages/content-part.ts';
import { inputAnswerIn, type InputAnswer } from '../../tools/input-request.ts';
import { readAnswers, type ChatAnswers } from './use-chat-answers.ts';
import { ChatRefusal } from './use-chat-errors.ts';

/** The request of a client. The rest of its body is ignored: the server keeps the conversation. */
export type ChatAsk =
  | {
      readonly kind: 'message';
      readonly id: string;
      readonly content: MessageContent;
      /** Whether the client named the message: it sends the message again, or has edited it. */
      readonly isNamed: boolean;
      readonly isAgain: boolean;
    }
  | ChatAnswers;

export interface ChatRequest {
  readonly chatId: string;
  readonly ask: ChatAsk;
}

export interface ReadOptions {
  readonly maxBodyBytes: number;
  readonly allowFileUrl?: (url: URL) => boolean;
}

export async function readChatRequest(
  request: Request,
  options: ReadOptions,
): Promise<ChatRequest> {
  const body = await readRecord(request, options.maxBodyBytes);
  const { id, trigger = 'submit-message', messageId, message } = body;
  if (typeof id !== 'string') throw invalid('The body has no chat id.');
  if (trigger !== 'submit-message' && trigger !== 'regenerate-message')
    throw invalid('The trigger must be submit-message or regenerate-message.');
  const messages: readonly unknown[] =
    body['messages'] === undefined && message !== undefined ? [message] : asList(body['messages']);
  const last = messages.findLast((m) => isRecord(m) && m['id'] === messageId) ?? messages.at(-1);
  if (!isRecord(last)) throw invalid('The body has no messages.');
  return { chatId: id, ask: askOf(last, messageId, trigger === 'regenerate-message', options) };
}

function askOf(
  last: Record<string, unknown>,
  messageId: unknown,
  isAgain: boolean,
  options: ReadOptions,
): ChatAsk {
  const { role } = last;
  const parts = asList(last['parts']).filter(isRecord);
  if (role === 'user')
    return {
      kind: 'message',
      id: typeof last['id'] === 'string' ? last['id'] : '',
      content: contentOf(parts, options),
      isNamed: messageId !== undefined && last['id'] === messageId,
      isAgain,
    };
  if (role !== 'assistant') throw invalid('The last message must have the role user or assistant.');
  return readAnswers(last);
}

/** Reads the parts of a user message. */
export function contentOf(
  parts: readonly Record<string, unknown>[],
  options: Pick<ReadOptions, 'allowFileUrl'>,
): MessageContent {
  const content = parts.flatMap((part): readonly ContentPart[] => {
    const { type, text } = part;
    if (type === 'text' && typeof text === 'string') return text === '' ? [] : [{ type, text }];
    return type === 'file' ? [fileOf(part, options)] : [];
  });
  if (content.length === 0) throw invalid('The message is empty.');
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === content.length ? texts.join('') : content;
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w=.+-]+)*;base64,([\w+/=-]*)$/;

/** Returns a remote file only if the server allows its URL: a client must not make the server fetch any address. */
function fileOf(
  { url, mediaType, filename }: Record<string, unknown>,
  { allowFileUrl }: Pick<ReadOptions, 'allowFileUrl'>,
): ContentPart {
  const [, type, data] = (typeof url === 'string' && DATA_URL.exec(url)) || [];
  const media = type ?? (isMediaType(mediaType) ? mediaType : 'application/octet-stream');
  const source = data === undefined ? remote(url, allowFileUrl) : { data };
  if (media.startsWith('image/')) return { type: 'image', mediaType: media, ...source };
  const name = typeof filename === 'string' ? { filename: fileName(filename) } : {};
  return { type: 'file', mediaType: media, ...source, ...name };
}

const isMediaType = (value: unknown): value is string =>
  typeof value === 'string' && /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(value);

/** Returns a name of one line that no file system truncates: it goes to the model and into lists. */
const fileName = (name: string): string =>
  name.slice(0, 255).replaceAll(/[\p{Cc}\p{Cf}\p{Surrogate}]/gu, ' ');

function remote(url: unknown, allow: ReadOptions['allowFileUrl']): { readonly url: string } {
  const address = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null;
  if (address && /^https?:$/.test(address.protocol) && allow?.(address))
    return { url: address.href };
  throw invalid('Send files as data URLs.');
}

async function boundedText(request: Request, maxBytes: number): Promise<string> {
  const tooLarge = (): ChatRefusal =>
    new ChatRefusal(
      'body_too_large',
      `The request is larger than ${maxBytes} bytes. Send only the newest message.`,
    );
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge();
  if (!request.body) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of request.body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLarge();
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Reads the JSON object that a client sends. */
export async function readRecord(
  request: Request,
  maxBytes: number,
): Promise<Record<string, unknown>> {
  // a form of another site cannot send this type without a preflight
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? ''))
    throw new ChatRefusal('unsupported_media_type', 'Send the chat as application/json.');
  const parsed = parseJson(await boundedText(request, maxBytes));
  const body: unknown = parsed.ok ? parsed.value : undefined;
  if (!isRecord(body)) throw invalid('The body is not a JSON object.');
  return body;
}

/** An answer to a question of a tool. */
export interface ChatInput {
  readonly inputId: string;
  /** The runtime checks it. */
  readonly answer: InputAnswer;
  readonly executionId?: string;
}

export async function readChatInput(request: Request, maxBytes: number): Promise<ChatInput> {
  const { inputId, executionId, action, content } = await readRecord(request, maxBytes);
  if (typeof inputId !== 'string') throw invalid('The body has no inputId.');
  if (executionId !== undefined && typeof executionId !== 'string')
    throw invalid('The executionId must be a text.');
  const answer = inputAnswerIn({ action, content });
  if (!answer) throw invalid('The action must be accept, with content, decline or cancel.');
  return { inputId, answer, ...(executionId !== undefined && { executionId }) };
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const invalid = (message: string): ChatRefusal => new ChatRefusal('invalid_request', message);
