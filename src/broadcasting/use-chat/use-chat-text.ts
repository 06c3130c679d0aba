import type { EventOf } from '../../events/agent-event.ts';
import type { UiMessageChunk } from './use-chat-chunk.ts';

const discarded = { onward: { discarded: true } } as const;

/**
 * The text of the model on its way to the client. A text part can only grow: what turns out to be void is ended and
 * marked, and what replaces it is a new part.
 */
export class TextParts {
  /** The part that grows, and what the client has of it. */
  #open: { readonly id: string; shown: string } | null = null;
  /** The message that streams, and the chunk that must come next: one that was missed leaves a hole. */
  #next: { readonly id: string; index: number } = { id: '', index: 0 };
  readonly #whole: Set<string> = new Set();

  chunk({ messageId, content, index }: EventOf<'StreamChunk'>): readonly UiMessageChunk[] {
    if (this.#whole.has(messageId)) return [];
    if (this.#next.id !== messageId) this.#next = { id: messageId, index: 0 };
    if (this.#next.index !== index) return [];
    this.#next.index += 1;
    const begin = this.#open?.id === messageId ? [] : [...this.end(), ...this.#start(messageId)];
    return [...begin, ...this.#grow(messageId, content)];
  }

  /** The text as it is kept: it goes on where the chunks have ended, or takes their place. */
  whole({ messageId, content }: EventOf<'MessageAdded'>): readonly UiMessageChunk[] {
    if (this.#whole.has(messageId)) return [];
    this.#whole.add(messageId);
    const open = this.#open?.id === messageId ? this.#open : null;
    if (open === null && content.trim() === '') return [];
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
    return [{ type: 'text-end', id }];
  }

  /** The attempt has failed: its text counts for nothing. */
  discard(): readonly UiMessageChunk[] {
    if (!this.#open) return [];
    const { id } = this.#open;
    this.#open = null;
    return [{ type: 'text-end', id, providerMetadata: discarded }];
  }

  #start(id: string): readonly UiMessageChunk[] {
    this.#open = { id, shown: '' };
    return [{ type: 'text-start', id }];
  }

  #grow(id: string, delta: string): readonly UiMessageChunk[] {
    if (delta === '') return [];
    if (this.#open) this.#open.shown += delta;
    return [{ type: 'text-delta', id, delta }];
  }
}
