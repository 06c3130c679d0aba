import { matchEnd } from './reading.ts';

/**
 * A secret that is being left out, wherever the pieces of its text are split. It keeps no more than the few characters
 * that may turn out to stand behind it.
 */
export interface Hiding {
  /** The place from which on the text is no part of the secret; -1 while all of it is. */
  feed(text: string, at: number): number;
  /** What was kept and stands behind the secret: call once, after its end. */
  rest(): string;
}

/** Blanks kept at most. */
const MOST_BLANKS = 200;
/** Punctuation kept at most; more of it is no end of a sentence. */
const MOST_JOINTS = 16;

/** As long as characters of the body come; a joint, such as a dot, belongs to it only if more of the body follows. */
export class Run implements Hiding {
  readonly #body: RegExp;
  readonly #joint: RegExp;
  #kept = '';

  /** Both sticky, and matching one character or more. */
  constructor(body: RegExp, joint: RegExp) {
    this.#body = body;
    this.#joint = joint;
  }

  feed(text: string, start: number): number {
    let at = start;
    for (;;) {
      const bodyEnd = matchEnd(this.#body, text, at);
      if (bodyEnd > at) this.#kept = '';
      if (bodyEnd === text.length) return -1;
      const jointEnd = matchEnd(this.#joint, text, bodyEnd);
      if (jointEnd === text.length) {
        this.#kept += text.slice(bodyEnd);
        if (this.#kept.length > MOST_JOINTS) this.#kept = '';
        return -1;
      }
      if (jointEnd === bodyEnd || matchEnd(this.#body, text, jointEnd) === jointEnd) return bodyEnd;
      this.#kept = '';
      at = jointEnd;
    }
  }

  rest(): string {
    return this.#kept;
  }
}

/** Up to a place that a pattern finds, such as the end of a line. */
export class Until implements Hiding {
  readonly #end: RegExp;

  /** Global. */
  constructor(end: RegExp) {
    this.#end = end;
  }

  feed(text: string, at: number): number {
    this.#end.lastIndex = at;
    return this.#end.exec(text)?.index ?? -1;
  }

  rest(): string {
    return '';
  }
}

/**
 * A string up to the quote that closes it, or a list or an object up to its last bracket. Text that travels in JSON is
 * escaped, any number of times: a quote counts by the number of backslashes before it. An empty line ends what never closes.
 */
export class Quoted implements Hiding {
  /** `"`, `'`, a backtick, or three of them; '' outside of strings. */
  #quote: string;
  /** Backslashes before a quote of this text's own. */
  readonly #escapes: number;
  /** Of brackets; 0 in a string alone. */
  #depth = 0;
  #slashes = 0;
  #sameQuotes = 0;
  /** A line break with nothing but blanks behind it: where it stands, or what earlier pieces had of it. */
  #breakAt = -1;
  #kept = '';
  /** The quote that ended it, with its backslashes. */
  #closing = '';

  /** Begins behind the quote, or at a bracket where there is none. */
  constructor(quote: string, escapes: number) {
    this.#quote = quote;
    this.#escapes = escapes;
  }

  feed(text: string, start: number): number {
    for (let at = start; at < text.length; at++) {
      const char = text.charAt(at);
      if (char === '\n') {
        if (this.#breakAt >= 0) return this.#breakAt;
        if (this.#kept !== '') return start;
        this.#breakAt = at;
      } else if (char !== ' ' && char !== '\t' && char !== '\r') {
        this.#breakAt = -1;
        this.#kept = '';
      }
      const shown = this.#take(char);
      if (shown >= 0) return this.#endAt(at + 1 - shown, start);
    }
    if (this.#breakAt >= 0 || this.#kept !== '') {
      this.#kept = (this.#kept + text.slice(Math.max(this.#breakAt, start))).slice(0, MOST_BLANKS);
      this.#breakAt = -1;
    }
    return -1;
  }

  rest(): string {
    return this.#kept;
  }

  /** Where the secret ends; the first signs of its end may have come with an earlier piece. */
  #endAt(end: number, start: number): number {
    if (end >= start) return end;
    this.#kept = this.#closing.slice(0, start - end);
    return start;
  }

  /** Whether the secret ends with this character: then how many of the last ones stand behind it, else -1. */
  #take(char: string): number {
    if (char === '\\') {
      this.#slashes += 1;
      this.#sameQuotes = 0;
      return -1;
    }
    const slashes = this.#slashes;
    this.#slashes = 0;
    if (char === '"' || char === "'" || char === '`') return this.#takeQuote(char, slashes);
    this.#sameQuotes = 0;
    if (this.#quote !== '') return -1;
    if (char === '[' || char === '{') this.#depth += 1;
    else if (char === ']' || char === '}') {
      this.#depth -= 1;
      if (this.#depth === 0) return 0;
    }
    return -1;
  }

  #takeQuote(char: string, slashes: number): number {
    const own = this.#escapes;
    // a quote of the text around: what was escaped in it is cut off
    if (slashes < own && char === '"') return this.#ending('\\'.repeat(slashes) + char);
    if (this.#quote === '') {
      if (slashes === own) this.#quote = char;
      return -1;
    }
    if (char !== this.#quote[0] || (slashes - own) % (2 * (own + 1)) !== 0) {
      this.#sameQuotes = 0;
      return -1;
    }
    this.#sameQuotes += 1;
    if (this.#sameQuotes < this.#quote.length) return -1;
    this.#sameQuotes = 0;
    if (this.#depth === 0) return this.#ending('\\'.repeat(own) + this.#quote);
    this.#quote = '';
    return -1;
  }

  #ending(closing: string): number {
    this.#closing = closing;
    return closing.length;
  }
}

/** Lines of YAML that are further in than the one that names the secret. */
export class Block implements Hiding {
  readonly #indent: number;
  /** A line break and the blanks behind it, while it is open how far in the line is. */
  #kept = '';
  #depth = 0;
  #isStart = false;

  constructor(indent: number) {
    this.#indent = indent;
  }

  feed(text: string, start: number): number {
    for (let at = start; at < text.length; at++) {
      const char = text.charAt(at);
      if (char === '\n') {
        this.#kept = this.#isStart ? `${this.#kept}\n`.slice(-MOST_JOINTS) : '\n';
        this.#isStart = true;
        this.#depth = 0;
      } else if (!this.#isStart) continue;
      else if (char === ' ' || char === '\t' || char === '\r') {
        this.#depth += 1;
        this.#kept = (this.#kept + char).slice(-MOST_BLANKS);
      } else if (this.#depth <= this.#indent) return at;
      else {
        this.#isStart = false;
        this.#kept = '';
      }
    }
    return -1;
  }

  rest(): string {
    return this.#kept;
  }
}

/** Behind the password of an address, from its `@` on: a host, unless another `@` shows that the password was longer. */
export class Host implements Hiding {
  /** The newest `@` and what followed it in earlier pieces. */
  #kept = '';
  #length = 0;

  feed(text: string, start: number): number {
    let from = start;
    for (let at = start; at < text.length; at++) {
      const char = text.charAt(at);
      if (char === '@') {
        this.#kept = '';
        this.#length = 0;
        from = at;
      } else if (/[/?#\s"'`<>\\]/.test(char) || (this.#length += 1) > LONGEST_HOST) return from;
    }
    this.#kept += text.slice(from);
    return -1;
  }

  rest(): string {
    return this.#kept;
  }
}

const LONGEST_HOST = 255;
