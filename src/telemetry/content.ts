import { safeEnd } from '../errors/excerpt.ts';
import type { Redactor } from '../errors/redactor.ts';
import type { InferenceResponse } from '../inference/inference-driver.ts';
import type { JsonValue } from '../json.ts';
import type { ContentPart, MessageContent } from '../messages/content-part.ts';
import type { Message } from '../messages/message.ts';
import type { Messages } from '../messages/messages.ts';

/** Most characters of one text. */
const MAX_TEXT = 8_192;
/** Most characters of the messages of one span: the newest that fit. */
const MAX_MESSAGES = 65_536;

/** Writes content for attributes: redacted, then truncated, without the bytes of images and files. */
export class Content {
  readonly #redactor: Redactor;
  /** Each message is redacted once per run. */
  readonly #written = new WeakMap<Message, string>();

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  text(text: string): string {
    return bounded(this.#redactor.text(text));
  }

  /** JSON of a value, such as the arguments of a call. */
  value(value: unknown): string {
    const safe = this.#redactor.value(value);
    return bounded(typeof safe === 'string' ? safe : (JSON.stringify(safe) ?? ''));
  }

  system(prompt: string): string {
    return JSON.stringify([{ type: 'text', content: this.text(prompt) }]);
  }

  /** The newest messages that fit, in the form of the semantic conventions. */
  messages(messages: Pick<Messages, 'length' | 'at'>): string {
    const kept: string[] = [];
    let length = 0;
    for (let i = messages.length - 1; i >= 0; i--) {
      const message = messages.at(i);
      if (message === undefined) break;
      const written = this.#message(message);
      length += written.length;
      if (length > MAX_MESSAGES && kept.length > 0) break;
      kept.push(written);
    }
    return `[${kept.toReversed().join(',')}]`;
  }

  answer({ content, toolCalls, finishReason }: InferenceResponse): string {
    const calls = Array.isArray(toolCalls) ? (toolCalls as InferenceResponse['toolCalls']) : [];
    const parts = [
      ...this.#parts(typeof content === 'string' ? content : ''),
      ...calls.map(({ id, name, args, argsRaw }) => ({
        type: 'tool_call',
        ...(id && { id }),
        name: this.text(name),
        arguments: this.value(argsRaw ?? args ?? {}),
      })),
    ];
    return JSON.stringify([{ role: 'assistant', parts, finish_reason: String(finishReason) }]);
  }

  said(role: string, text: string): string {
    return JSON.stringify([{ role, parts: this.#parts(text) }]);
  }

  #message(message: Message): string {
    const known = this.#written.get(message);
    if (known !== undefined) return known;
    const { role, content, toolCalls, toolCallId } = message;
    const parts =
      toolCallId === null
        ? [
            ...this.#parts(content),
            ...toolCalls.map(({ id, name, args }) => ({
              type: 'tool_call',
              id,
              name: this.text(name),
              arguments: this.value(args),
            })),
          ]
        : [{ type: 'tool_call_response', id: toolCallId, response: this.text(message.text) }];
    const written = JSON.stringify({ role, parts });
    this.#written.set(message, written);
    return written;
  }

  #parts(content: MessageContent): readonly JsonValue[] {
    if (typeof content === 'string')
      return content === '' ? [] : [{ type: 'text', content: this.text(content) }];
    return content.map((part) => this.#part(part));
  }

  #part(part: ContentPart): JsonValue {
    if (part.type === 'text') return { type: 'text', content: this.text(part.text) };
    return { type: part.type, ...(part.mediaType && { mime_type: this.text(part.mediaType) }) };
  }
}

const bounded = (text: string): string =>
  text.length <= MAX_TEXT ? text : `${text.slice(0, safeEnd(text, MAX_TEXT - 1))}…`;
