import type { LiveStreamed } from '../feed/live-source.ts';
import { utf8Bytes } from '../../json.ts';
import { halves, LiveTextList, type LiveText } from './live-text.ts';

export interface LiveOutboxOptions {
  /** The largest body of a message, in characters as `encode` returns them. */
  readonly maxBytes: number;
  /** Encodes a body with the store's codec. */
  encode(body: string): string | Promise<string>;
  sendTexts(node: string, body: string): void;
  sendChanged(node: string, sessionIds: ReadonlySet<string>): void;
  failed(error: unknown): void;
}

interface Outgoing {
  readonly list: LiveTextList;
  /** Number of characters of the texts. */
  size: number;
  readonly changed: Set<string>;
}

const EVERY_MS = 30;
/** Most characters that wait for one node. Further texts are dropped, and readers ask for what they miss. */
const MOST_WAITING = 1_000_000;
/** Most texts in one message. A message that is too large is split. */
const TEXTS_AT_ONCE = 12;
const COST_OF_TEXT = 24;

/**
 * Collects text that the workers of this process stream, and sends it every 30 ms to each node that follows a session.
 */
export class LiveOutbox {
  readonly #options: LiveOutboxOptions;
  readonly #nodes: Map<string, Outgoing> = new Map();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isSending = false;
  #isClosed = false;

  constructor(options: LiveOutboxOptions) {
    this.#options = options;
  }

  add(node: string, live: LiveStreamed): void {
    const out = this.#outgoing(node);
    const { event } = live;
    const { length } = event.type === 'ToolCallDelta' ? event.argsDelta : event.content;
    if (out.size > MOST_WAITING) return;
    out.size += length + COST_OF_TEXT;
    out.list.add(live);
  }

  /** Records that the log of the session has grown. */
  addChanged(node: string, sessionId: string): void {
    this.#outgoing(node).changed.add(sessionId);
  }

  /** Sends waiting texts and changes now, instead of with the next batch. */
  flush(): void {
    if (this.#isSending || this.#timer === null) return;
    clearTimeout(this.#timer);
    void this.#send();
  }

  /** Drops waiting texts and changes. */
  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#nodes.clear();
  }

  #outgoing(node: string): Outgoing {
    let out = this.#nodes.get(node);
    if (!out) {
      out = { list: new LiveTextList(), size: 0, changed: new Set() };
      this.#nodes.set(node, out);
    }
    if (!this.#isSending && !this.#isClosed)
      this.#timer ??= setTimeout(() => void this.#send(), EVERY_MS);
    return out;
  }

  async #send(): Promise<void> {
    this.#timer = null;
    this.#isSending = true;
    const waiting = Array.from(this.#nodes);
    this.#nodes.clear();
    try {
      for (const [node, { list, changed }] of waiting) {
        const { texts } = list;
        for (let i = 0; i < texts.length; i += TEXTS_AT_ONCE)
          for await (const body of bodiesOf(texts.slice(i, i + TEXTS_AT_ONCE), this.#options))
            if (!this.#isClosed) this.#options.sendTexts(node, body);
        // after the texts: readers accept text only until the log has it
        if (changed.size > 0 && !this.#isClosed) this.#options.sendChanged(node, changed);
      }
    } catch (error) {
      this.#options.failed(error);
    }
    this.#isSending = false;
    if (this.#nodes.size > 0 && !this.#isClosed)
      this.#timer = setTimeout(() => void this.#send(), EVERY_MS);
  }
}

/**
 * Yields the texts as message bodies within the limit. Leaves out a text that is too large and cannot be split further.
 */
export async function* bodiesOf(
  texts: readonly LiveText[],
  { maxBytes, encode }: Pick<LiveOutboxOptions, 'maxBytes' | 'encode'>,
): AsyncGenerator<string> {
  if (texts.length === 0) return;
  const json = JSON.stringify(texts);
  const encoded = encode(json);
  const body = typeof encoded === 'string' ? encoded : await encoded;
  if (fits(body, maxBytes)) return void (yield body);
  const limits = { maxBytes, encode };
  const [only] = texts;
  const parts = texts.length > 1 || !only ? null : halves(only);
  if (texts.length === 1 && !parts) return;
  const middle = texts.length >> 1;
  const [before, after] = parts
    ? [[parts[0]], [parts[1]]]
    : [texts.slice(0, middle), texts.slice(middle)];
  yield* bodiesOf(before, limits);
  yield* bodiesOf(after, limits);
}

const fits = (text: string, maxBytes: number): boolean =>
  text.length <= maxBytes && (text.length * 3 <= maxBytes || utf8Bytes(text) <= maxBytes);
