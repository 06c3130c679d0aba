import type { UiMessageChunk } from './use-chat-chunk.ts';

const discarded = { onward: { discarded: true } } as const;

interface Piece {
  readonly messageId: string;
  readonly content: string;
  readonly offset: number;
  readonly restart?: number;
}

/**
 * Streams the text or the reasoning of the model to the client. A part can only grow: discarded text is ended and
 * marked, and its replacement is a new part.
 */
export class TextParts {
  readonly #kind: 'text' | 'reasoning';
  /** The part that is open, and the text that the client has of it. */
  #open: { readonly id: string; shown: string } | null = null;
  /** The text that streams, and the offset of the piece that must come next: one that was missed leaves a hole. */
  #next: { readonly id: string; readonly restart: number; readonly offset: number } = {
    id: '',
    restart: 0,
    offset: 0,
  };
  readonly #whole: Set<string> = new Set();

  constructor(kind: 'text' | 'reasoning' = 'text') {
    this.#kind = kind;
  }

  chunk({ messageId, content, offset, restart = 0 }: Piece): readonly UiMessageChunk[] {
    if (this.#whole.has(messageId)) return [];
    const next = this.#next;
    const isSameMessage = next.id === messageId;
    const isBegunAnew = isSameMessage && restart > next.restart;
    const expected = isSameMessage && !isBegunAnew ? next.offset : 0;
    if (offset !== expected || (isSameMessage && restart < next.restart)) return [];
    this.#next = { id: messageId, restart, offset: offset + content.length };
    const left = isBegunAnew ? this.discard() : [];
    const begin = this.#open?.id === messageId ? [] : [...this.end(), ...this.#start(messageId)];
    return [...left, ...begin, ...this.#grow(messageId, content)];
  }

  /** The text as it is kept: it continues where the chunks have ended, or takes their place. */
  whole({ messageId, content }: Pick<Piece, 'messageId' | 'content'>): readonly UiMessageChunk[] {
    if (this.#whole.has(messageId)) return [];
    this.#whole.add(messageId);
    const open = this.#open?.id === messageId ? this.#open : null;
    if (open === null && content.trim() === '') return [];
    // long reasoning is stored truncated
    if (open && this.#kind === 'reasoning' && open.shown.startsWith(content.replace(/…$/, '')))
      return this.end();
    if (open && content.startsWith(open.shown))
      return [...this.#grow(messageId, content.slice(open.shown.length)), ...this.end()];
    return [
      ...this.discard(),
      ...this.#start(messageId),
      ...this.#grow(messageId, content),
      ...this.end(),
    ];
  }

  end(): readonly UiMessageChunk[] {
    if (!this.#open) return [];
    const { id } = this.#open;
    this.#open = null;
    return [{ type: `${this.#kind}-end`, id: this.#idOf(id) }];
  }

  /** Discards the text of a failed attempt. */
  discard(): readonly UiMessageChunk[] {
    if (!this.#open) return [];
    const { id } = this.#open;
    this.#open = null;
    return [{ type: `${this.#kind}-end`, id: this.#idOf(id), providerMetadata: discarded }];
  }

  #start(id: string): readonly UiMessageChunk[] {
    this.#open = { id, shown: '' };
    return [{ type: `${this.#kind}-start`, id: this.#idOf(id) }];
  }

  #grow(id: string, delta: string): readonly UiMessageChunk[] {
    if (delta === '') return [];
    if (this.#open) this.#open.shown += delta;
    return [{ type: `${this.#kind}-delta`, id: this.#idOf(id), delta }];
  }

  /** Returns the id of a part: a message may have both kinds, and each needs its own id. */
  #idOf(messageId: string): string {
    return this.#kind === 'text' ? messageId : `${messageId}-reasoning`;
  }
}
