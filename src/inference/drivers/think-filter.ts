const OPENING = '<think>';
const CLOSING = '</think>';

/**
 * Separates `<think>…</think>` at the start of a text from the rest, for any split of the text. Without the closing
 * tag there is no thought, and the text stays unchanged.
 */
export class ThinkFilter {
  #state: 'start' | 'thinking' | 'gap' | 'saying' = 'start';
  #held = '';
  /** End of the thought that may be the start of the closing tag. */
  #tail = '';
  #think = '';
  /** White space at the start of the thought, which counts only if more follows. */
  #blank = '';
  #isBlank = true;
  #new = '';

  /** Returns what may be shown now. */
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

  /** Returns the text that the last chunks added to the thought, before its end is known. */
  takeThought(): string {
    const thought = this.#new;
    this.#new = '';
    return thought;
  }

  /** Returns text that was held back and is not a thought. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    this.#state = 'saying';
    return rest;
  }

  /** The thought; null if there was none, or it was empty. */
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

  /** Drops the white space after the thought. */
  #say(text: string): string {
    const said = text.trimStart();
    if (said !== '') this.#state = 'saying';
    return said;
  }
}

/** Returns the longest end of a text that may start a closing tag. */
function beginningOfClosing(text: string): string {
  for (let length = Math.min(text.length, CLOSING.length - 1); length > 0; length--)
    if (CLOSING.startsWith(text.slice(-length))) return text.slice(-length);
  return '';
}

/** Splits a whole text. */
export function splitThink(text: string): { readonly think: string | null; readonly said: string } {
  const filter = new ThinkFilter();
  const said = filter.push(text);
  return { said: said + filter.end(), think: filter.think };
}
