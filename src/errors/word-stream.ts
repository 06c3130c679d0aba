import type { TextStream } from './secret-scanner.ts';

/** Maximum characters of a word to hold; a longer one is shown without its end, or dropped if it has a secret. */
const MAX_HELD = 4_096;
/** Characters of a long word that identify what starts in it. */
const TAIL = 256;

/** Whether a pattern may match across several words. */
export const matchesBlanks = ({ source }: RegExp): boolean =>
  / |\\[snrtvfWDxu]|\[\^|(?<!\\)\./.test(source);

/**
 * Redacts text that arrives in chunks with a function that may detect secrets of any shape. It holds back the last
 * words, and emits a word only if the function gives the same for the two parts as for the whole.
 */
export class WordStream implements TextStream {
  readonly #redact: (text: string) => string;
  readonly #words: number;
  #held = '';
  /** Length at which the held text is checked again. */
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
    if (length > MAX_HELD) return this.#overlong();
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

/** Returns the start of the last `count` words, including the open one. */
function startOfLast(text: string, count: number): number {
  let at = text.length;
  for (let word = 0; word < count; word++) {
    while (word > 0 && at > 0 && /\s/.test(text.charAt(at - 1))) at -= 1;
    while (at > 0 && !/\s/.test(text.charAt(at - 1))) at -= 1;
  }
  return at;
}
