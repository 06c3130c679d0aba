import { matchEnd } from './reading.ts';

/** Skips a secret for any split of its text. It keeps only the few characters that may turn out to follow it. */
export interface Hiding {
  /** Returns the position where the secret ends; -1 while all of the text is part of it. */
  feed(text: string, at: number): number;
  /** Returns kept text that follows the secret: call once, after its end. */
  rest(): string;
}

/** Maximum blanks to keep. */
const MAX_BLANKS = 200;
/** Maximum punctuation to keep; more is not the end of a sentence. */
const MAX_JOINTS = 16;

/** Skips characters of the body; a joint, such as a dot, belongs to it only if more of the body follows. */
export class Run implements Hiding {
  readonly #body: RegExp;
  readonly #joint: RegExp;
  #kept = '';

  /** Both are sticky and match one character or more. */
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
        if (this.#kept.length > MAX_JOINTS) this.#kept = '';
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

/** Skips up to a position that a pattern finds, such as the end of a line. */
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
 * Skips a string up to its closing quote, or a list or an object up to its last bracket. Text inside JSON is escaped,
 * any number of times: a quote counts by the number of backslashes before it. An empty line ends what is never
 * closed.
 */
export class Quoted implements Hiding {
  /** `"`, `'`, a backtick, or three of them; '' outside of strings. */
  #quote: string;
  /** Backslashes before a quote of this text. */
  readonly #escapes: number;
  /** Depth of brackets; 0 in a string only. */
  #depth = 0;
  #slashes = 0;
  #sameQuotes = 0;
  /** Position of a line break with only blanks after it, or what earlier chunks had of it. */
  #breakAt = -1;
  #kept = '';
  /** The quote that ended it, with its backslashes. */
  #closing = '';

  /** Starts after the quote, or at a bracket if there is none. */
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
      this.#kept = (this.#kept + text.slice(Math.max(this.#breakAt, start))).slice(0, MAX_BLANKS);
      this.#breakAt = -1;
    }
    return -1;
  }

  rest(): string {
    return this.#kept;
  }

  /** Returns the end of the secret; its first characters may have arrived in an earlier chunk. */
  #endAt(end: number, start: number): number {
    if (end >= start) return end;
    this.#kept = this.#closing.slice(0, start - end);
    return start;
  }

  /** Returns how many of the last characters follow the secret if it ends with this character, else -1. */
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
    // a quote of the surrounding text: an escaped value ends here
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

/** Skips lines of YAML that are indented more than the key. */
export class Block implements Hiding {
  readonly #indent: number;
  /** A line break and the blanks after it: the indentation of a line that is still open. */
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
        this.#kept = this.#isStart ? `${this.#kept}\n`.slice(-MAX_JOINTS) : '\n';
        this.#isStart = true;
        this.#depth = 0;
      } else if (!this.#isStart) continue;
      else if (char === ' ' || char === '\t' || char === '\r') {
        this.#depth += 1;
        this.#kept = (this.#kept + char).slice(-MAX_BLANKS);
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

/**
 * Reads the text after the password of a URL, from its `@` on: a host, unless another `@` shows that the password was
 * longer.
 */
export class Host implements Hiding {
  /** The newest `@` and the text after it in earlier chunks. */
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
      } else if (/[/?#\s"'`<>\\]/.test(char) || (this.#length += 1) > MAX_HOST) return from;
    }
    this.#kept += text.slice(from);
    return -1;
  }

  rest(): string {
    return this.#kept;
  }
}

const MAX_HOST = 255;
