const OPENING = '<think>';
const CLOSING = '</think>';

/**
 * Parts `<think>…</think>` at the beginning of a text from what was said after it, wherever the pieces are cut. Thought
 * that never ends is no thought: the text is kept as it came.
 */
export class ThinkFilter {
  #state: 'start' | 'thinking' | 'gap' | 'saying' = 'start';
  #held = '';
  /** The end of the thought, as far as it may be the beginning of the closing tag. */
  #tail = '';
  #think = '';
  /** White space at its beginning, which counts only if more follows. */
  #blank = '';
  #isBlank = true;
  #new = '';

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

  /** What the last pieces add to the thought, before it is known that it ends. */
  takeThought(): string {
    const thought = this.#new;
    this.#new = '';
    return thought;
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
      this.#tail = beginningOfClosing(seen);
      this.#add(seen.slice(0, seen.length - this.#tail.length));
      return '';
    }
    this.#add(seen.slice(0, at));
    const rest = seen.slice(at + CLOSING.length);
    this.#think = this.#held
      .slice(0, this.#held.length - rest.length - CLOSING.length)
      .trimStart()
      .slice(OPENING.length);
    this.#held = '';
    this.#state = 'gap';
    return this.#say(rest);
  }

  #add(thought: string): void {
    if (!this.#isBlank) this.#new += thought;
    else if (thought.trim() === '') this.#blank += thought;
    else {
      this.#new += this.#blank + thought;
      this.#blank = '';
      this.#isBlank = false;
    }
  }

  /** The white space behind the thought belongs to neither. */
  #say(text: string): string {
    const said = text.trimStart();
    if (said !== '') this.#state = 'saying';
    return said;
  }
}

/** The longest end of a text that a closing tag may begin with. */
function beginningOfClosing(text: string): string {
  for (let length = Math.min(text.length, CLOSING.length - 1); length > 0; length--)
    if (CLOSING.startsWith(text.slice(-length))) return text.slice(-length);
  return '';
}

/** The same for a whole text. */
export function splitThink(text: string): { readonly think: string | null; readonly said: string } {
  const filter = new ThinkFilter();
  const said = filter.push(text);
  return { said: said + filter.end(), think: filter.think };
}
