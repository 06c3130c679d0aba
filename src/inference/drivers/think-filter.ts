const OPENING = '<think>';
const CLOSING = '</think>';

/**
 * Parts `<think>…</think>` at the beginning of a text from what was said after it, wherever the pieces are cut. Thought
 * that never ends is no thought: the text is kept as it came.
 */
export class ThinkFilter {
  #state: 'start' | 'thinking' | 'gap' | 'saying' = 'start';
  #held = '';
  /** The end of what is held, long enough to see a closing tag that is cut in two. */
  #tail = '';
  #think = '';

  /** What may be shown now. */
  push(text: string): string {
    if (this.#state === 'saying') return text;
    if (this.#state === 'gap') return this.#say(text);
    this.#held += text;
    if (this.#state === 'start') {
      const start = this.#held.trimStart();
      if (start.length < OPENING.length && OPENING.startsWith(start)) return '';
      if (!start.startsWith(OPENING)) return this.end();
      this.#state = 'thinking';
      return this.#search(start.slice(OPENING.length));
    }
    return this.#search(text);
  }

  /** What was held back and turned out to be said. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    this.#state = 'saying';
    return rest;
  }

  /** Null when there was none, or nothing in it. */
  get think(): string | null {
    return this.#think.trim() === '' ? null : this.#think;
  }

  #search(text: string): string {
    const seen = this.#tail + text;
    const at = seen.indexOf(CLOSING);
    if (at < 0) {
      this.#tail = seen.slice(-(CLOSING.length - 1));
      return '';
    }
    const rest = seen.slice(at + CLOSING.length);
    this.#think = this.#held
      .slice(0, this.#held.length - rest.length - CLOSING.length)
      .trimStart()
      .slice(OPENING.length);
    this.#held = '';
    this.#state = 'gap';
    return this.#say(rest);
  }

  /** The white space behind the thought belongs to neither. */
  #say(text: string): string {
    const said = text.trimStart();
    if (said !== '') this.#state = 'saying';
    return said;
  }
}

/** The same for a whole text. */
export function splitThink(text: string): { readonly think: string | null; readonly said: string } {
  const filter = new ThinkFilter();
  const said = filter.push(text);
  return { said: said + filter.end(), think: filter.think };
}
