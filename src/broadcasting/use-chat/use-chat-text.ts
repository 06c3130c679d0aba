import type { UiMessageChunk } from './use-chat-chunk.ts';

const discarded = { onward: { discarded: true } } as const;

interface Piece {
  readonly messageId: string;
  readonly content: string;
  readonly index: number;
}

/**
 * The text of the model on its way to the client, or its reasoning. Such a part can only grow: what turns out to be void
 * is ended and marked, and what replaces it is a new part.
 */
export class TextParts {
  readonly #kind: 'text' | 'reasoning';
  /** The part that grows, and what the client has of it. */
  #open: { readonly id: string; shown: string } | null = null;
  /** The message that streams, and the chunk that must come next: one that was missed leaves a hole. */
  #next: { readonly id: string; index: number } = { id: '', index: 0 };
  readonly #whole: Set<string> = new Set();

  constructor(kind: 'text' | 'reasoning' = 'text') {
    this.#kind = kind;
  }

  chunk({ messageId, content, index }: Piece): readonly UiMessageChunk[] {
    if (this.#whole.has(messageId)) return [];
    if (this.#next.id !== messageId) this.#next = { id: messageId, index: 0 };
    if (this.#next.index !== index) return [];
    this.#next.index += 1;
    const begin = this.#open?.id === messageId ? [] : [...this.end(), ...this.#start(messageId)];
    return [...begin, ...this.#grow(messageId, content)];
  }

  /** The text as it is kept: it continues where the chunks have ended, or takes their place. */
  whole({ messageId, content }: Omit<Piece, 'index'>): readonly UiMessageChunk[] {
    if (this.#whole.has(messageId)) return [];
    this.#whole.add(messageId);
    const open = this.#open?.id === messageId ? this.#open : null;
    if (open === null && content.trim() === '') return [];
    // long reasoning is kept truncated
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

  /** The attempt has failed: its text counts for nothing. */
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

  /** A message may have both parts, and each needs an id of its own. */
  #idOf(messageId: string): string {
    return this.#kind === 'text' ? messageId : `${messageId}-reasoning`;
  }
}
