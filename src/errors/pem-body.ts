import type { Hiding } from './hiding.ts';

/** A line break, also written as ` ` if the key is inside JSON. */
const gap = /^(?:\s|\\+[nr])*/;
const lineBreak = /\n|\\+n/;
const lineEnd = /^(?:[ \t\r]*(?:\n|\\+[nr])|["'`\\]|-----END)/;
const header =
  /^(?:Proc-Type|DEK-Info|Version|Comment|Charset|MessageID):[^\n\\]{0,200}(?:\n|\\+n)/;
const openHeader = /^(?:Proc-Type|DEK-Info|Version|Comment|Charset|MessageID):[^\n\\]{0,200}\\*$/;
const headerNames = ['Proc-Type:', 'DEK-Info:', 'Version:', 'Comment:', 'Charset:', 'MessageID:'];
const END = '-----END ';
const ending = /^-----END [A-Z0-9 ]{0,60}-----/;
const openEnding = /^-----END [A-Z0-9 ]{0,60}-{0,4}$/;
const thenEnding = /^(?:\s|\\+[nr])*-----END/;
const thenOpenEnding = /^(?:\s|\\+[nr])*(?:\\+|-{1,5}|-----EN?)?$/;
/** Also a value that is encoded for a URL; two dashes start the end of the key. */
const base64 = /^(?:[A-Za-z0-9+/=_]|-(?!-|$))*/;

/** Minimum length that no word of a sentence has. */
const LONG = 24;
/** Blanks to keep while nothing follows. */
const MAX_GAP = 200;

const WAIT = -1;
const OVER = -2;

/**
 * The body of a private key: lines of base64 and their headers, up to and including the last line. An incomplete key
 * hides only its lines: the text after them is shown.
 */
export class PemBody implements Hiding {
  /** Undecided text: a gap and the start of a word; at the end, the text after the key. */
  #kept = '';
  #isOver = false;
  /** Whether a long line continues. */
  #isInside = false;
  #isFirst = true;
  #lineLength = 0;
  /** Whether the last line has passed: one that is shorter than the first. */
  #hasLast = false;

  feed(text: string, at: number): number {
    let rest = this.#kept + text.slice(at);
    while (!this.#isOver) {
      const taken = this.#take(rest);
      if (taken === WAIT) {
        this.#kept = rest;
        return -1;
      }
      if (taken === OVER) this.#isOver = true;
      else rest = rest.slice(taken);
    }
    const place = text.length - rest.length;
    this.#kept = place < at ? rest.slice(0, at - place) : '';
    return Math.max(place, at);
  }

  rest(): string {
    if (this.#isOver) return this.#kept;
    // the text ends here: a line counts, however short
    const [blank = ''] = gap.exec(this.#kept) ?? [];
    const word = this.#kept.slice(blank.length);
    const isBody = base64.exec(word)?.[0] === word && this.#isLine(blank);
    return isBody && word !== '' ? '' : this.#kept;
  }

  /** Returns how many characters belong to the key. */
  #take(rest: string): number {
    if (this.#isInside) {
      const [more = ''] = base64.exec(rest) ?? [];
      const behind = rest.length - more.length;
      // a dash at the end may belong to the line, or start the end of the key
      this.#isInside = behind === 0 || (behind === 1 && rest.endsWith('-'));
      return this.#isInside && more === '' ? WAIT : more.length;
    }
    const [blank = ''] = gap.exec(rest) ?? [];
    const word = rest.slice(blank.length);
    if (word === '' || /^\\+$/.test(word)) return rest.length > MAX_GAP ? OVER : WAIT;
    if (END.startsWith(word) || openEnding.test(word)) return WAIT;
    const [end] = ending.exec(word) ?? header.exec(word) ?? [];
    if (end !== undefined) {
      this.#isOver = end.startsWith(END);
      return blank.length + end.length;
    }
    if (openHeader.test(word) || headerNames.some((name) => name.startsWith(word))) return WAIT;
    const length = base64.exec(word)?.[0].length ?? 0;
    if (length === 0) return OVER;
    const fit = length >= LONG ? length : this.#fit(blank, word.slice(length), length);
    if (fit < 0) return fit;
    this.#isInside = length === word.length;
    if (this.#isFirst) this.#lineLength = length;
    this.#hasLast ||= length < this.#lineLength;
    this.#isFirst = false;
    return blank.length + length;
  }

  /** Whether a short word is a line of the key: it is alone in its line, or the end of the key follows. */
  #fit(blank: string, after: string, length: number): number {
    if (thenEnding.test(after)) return length;
    if (this.#isLine(blank) && lineEnd.test(after)) return length;
    return after.length <= MAX_GAP && thenOpenEnding.test(after) ? WAIT : OVER;
  }

  #isLine(blank: string): boolean {
    return !this.#hasLast && (lineBreak.test(blank) || (this.#isFirst && blank === ''));
  }
}
