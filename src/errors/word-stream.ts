import type { TextStream } from './secret-scanner.ts';

/** A word that is longer is shown without its end, or left out to its end if a secret is in it. */
const MOST_HELD = 4_096;
/** Enough of a long word to recognize what begins in it. */
const TAIL = 256;

/** Whether a pattern may match over several words. */
export const matchesBlanks = ({ source }: RegExp): boolean =>
  / |\\[snrtvfWDxu]|\[\^|(?<!\\)\./.test(source);

/**
 * Text that arrives in pieces, for a function that knows secrets of any shape: the last words are held back, and a word
 * leaves only where the function makes the same of the text before and the text behind as of both together.
 */
export class WordStream implements TextStream {
  readonly #redact: (text: string) => string;
  readonly #words: number;
  #held = '';
  /** Not looked at again before it is as long. */
  #nextLength = 0;
  #isDropping = false;

  constructor(redact: (text: string) => string, words: number) {
    this.#redact = redact;
    this.#words = words;
  }

  push(piece: string): string {
    let rest = piece;
    if (this.#isDropping) {
      const blank = rest.search(/\s/);
      if (blank < 0) return '';
      this.#isDropping = false;
      rest = rest.slice(blank);
    }
    this.#held += rest;
    const { length } = this.#held;
    if (length > MOST_HELD) return this.#overlong();
    return length >= this.#nextLength && /\s/.test(rest) ? this.#release() : '';
  }

  end(): string {
    const rest = this.#held;
    this.#held = '';
    return rest === '' ? '' : this.#redact(rest);
  }

  #release(): string {
    const held = this.#held;
    const cut = startOfLast(held, this.#words);
    const [before, after] = [held.slice(0, cut), held.slice(cut)];
    const whole = this.#redact(held);
    const shown = whole === held ? before : this.#redact(before);
    if (whole !== held && shown + this.#redact(after) !== whole) {
      this.#nextLength = held.length * 1.25;
      return '';
    }
    this.#held = after;
    this.#nextLength = 0;
    return shown;
  }

  #overlong(): string {
    const shown = this.#redact(this.#held);
    this.#nextLength = 0;
    this.#isDropping = shown !== this.#held;
    const end = this.#isDropping ? this.#held.length : this.#held.length - TAIL;
    this.#held = this.#held.slice(end);
    return this.#isDropping ? shown : shown.slice(0, end);
  }
}

/** Where the last `count` words begin, the one that is open included. */
function startOfLast(text: string, count: number): number {
  let at = text.length;
  for (let word = 0; word < count; word++) {
    while (word > 0 && at > 0 && /\s/.test(text.charAt(at - 1))) at -= 1;
    while (at > 0 && !/\s/.test(text.charAt(at - 1))) at -= 1;
  }
  return at;
}
